/**
 * The page's only script, inlined under its hash.
 *
 * Without it the page still works and reloads every 15 seconds.
 *
 * - The script polls `/status` and, on a change, loads the page again and takes its <main>. The server alone writes
 *   each state, so payers with and without JavaScript read the same words.
 * - Polling pauses while the page is hidden and resumes at once when it is visible: on a phone the payer returns from
 *   the bank's app.
 * - A payment that has just arrived leads back to the merchant after some seconds, unless the payer touches the page.
 * - `history.state` remembers that the page led back: the browser's own way back must not lead away again.
 * - Only states that can still change are polled, the settled ones rarely.
 * - The countdown uses the server's clock, because a phone's may be minutes off. The countdown is not a live region: a
 *   screen reader would read every second of it.
 */
export const SCRIPT = `
(() => {
  'use strict';
  const root = document.documentElement;
  const pace = { pending: 3000, processing: 3000, paid: 30000, disputed: 30000, expired: 30000 };
  const base = location.pathname.replace(/[/]+$/, '');
  const news = document.getElementById('news');
  let main, skew, failures = 0, busy = false, since = Date.now(), timer, clock, reset, leaving;
  root.classList.add('js');

  function adopt() {
    main = document.querySelector('main');
    for (const share of main.querySelectorAll('[data-share=code]')) share.hidden = !navigator.share;
    if (!main.dataset.now) return;
    clearTimeout(leaving);
    leaving = null;
    const back = main.querySelector('[data-back]');
    if (back && history.state === 'left') back.remove();
    else if (back) leaving = setTimeout(leave, Number(back.dataset.back) * 1000);
    skew = Date.now() - Number(main.dataset.now);
    tick();
  }

  function leave() {
    history.replaceState('left', '');
    location.assign(main.querySelector('[data-return]').href);
  }

  function stay(event) {
    if (!leaving || event.target.closest?.('[data-return]')) return;
    clearTimeout(leaving);
    leaving = null;
    main.querySelector('[data-back]')?.remove();
  }

  function tick() {
    clearTimeout(clock);
    const out = main.querySelector('[data-countdown]');
    if (!out) return root.classList.remove('soon');
    const left = Math.max(0, Number(main.dataset.expires) - (Date.now() - skew));
    const s = Math.ceil(left / 1000);
    const two = (n) => String(n).padStart(2, '0');
    const h = Math.floor(s / 3600);
    out.textContent = h >= 24
      ? Math.floor(h / 24) + ' d ' + (h % 24) + ' h'
      : (h ? h + ':' : '') + two(Math.floor(s / 60) % 60) + ':' + two(s % 60);
    root.classList.toggle('soon', s <= 60);
    if (s > 0) clock = setTimeout(tick, left % 1000 || 1000);
    else poll();
  }

  function schedule() {
    clearTimeout(timer);
    const every = pace[main.dataset.status];
    if (!every || document.hidden) return;
    const patience = Date.now() - since > 300000 ? 3 : 1;
    timer = setTimeout(poll, Math.min(every * patience * 2 ** failures, 60000) * (0.9 + Math.random() / 5));
  }

  async function get(url, accept) {
    const stop = new AbortController();
    const late = setTimeout(() => stop.abort(), 10000);
    try {
      const answer = await fetch(url, { cache: 'no-store', headers: { accept }, signal: stop.signal });
      if (!answer.ok) throw new Error(String(answer.status));
      return await answer.text();
    } finally {
      clearTimeout(late);
    }
  }

  async function poll() {
    if (busy || !pace[main.dataset.status]) return;
    busy = true;
    try {
      const { status } = JSON.parse(await get(base + '/status', 'application/json'));
      if (status !== main.dataset.status || main.dataset.view === 'preparing') await swap();
      failures = 0;
    } catch {
      failures = Math.min(failures + 1, 5);
    }
    busy = false;
    const lost = failures > 1;
    root.classList.toggle('lost', lost);
    const live = main.querySelector('[data-live]');
    if (live) live.textContent = lost ? live.dataset.lost : live.dataset.live;
    schedule();
  }

  async function swap() {
    const next = new DOMParser().parseFromString(await get(base + location.search, 'text/html'), 'text/html');
    const fresh = next.querySelector('main');
    if (!fresh) throw new Error('no page');
    const changed = fresh.dataset.view !== main.dataset.view;
    const focused = main.contains(document.activeElement);
    main.replaceWith(document.adoptNode(fresh));
    document.title = next.title;
    root.classList.add('swapped');
    adopt();
    if (!changed) return;
    since = Date.now();
    const heading = main.querySelector('h1');
    news.textContent = heading.textContent.replace(/\\s+/g, ' ').trim();
    if (focused) heading.focus();
    scrollTo(0, 0);
  }

  function wake() {
    if (document.hidden) return clearTimeout(timer);
    failures = 0;
    since = Date.now();
    poll();
  }

  async function copy(button) {
    const code = document.getElementById(button.dataset.copy);
    let done = true;
    try {
      await navigator.clipboard.writeText(code.value);
    } catch {
      code.select();
      done = document.execCommand('copy');
    }
    if (!done) code.select();
    say(button, done);
  }

  function share(button) {
    if (button.dataset.share === 'code') {
      return navigator.share({ text: document.getElementById('br-code').value }).catch(() => {});
    }
    const link = location.origin + location.pathname;
    if (navigator.share) return navigator.share({ title: document.title, url: link }).catch(() => {});
    return navigator.clipboard.writeText(link).then(() => say(button, true), () => say(button, false));
  }

  function say(button, done) {
    const label = button.querySelector('span');
    news.textContent = label.textContent = done ? button.dataset.done : button.dataset.failed;
    clearTimeout(reset);
    reset = setTimeout(() => {
      label.textContent = label.dataset.label;
      news.textContent = '';
    }, 4000);
  }

  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-copy]');
    if (button) copy(button);
    if (event.target.closest('[data-print]')) print();
    const sharing = event.target.closest('[data-share]');
    if (sharing) share(sharing);
  });
  document.addEventListener('pointerdown', stay);
  document.addEventListener('keydown', stay);
  document.addEventListener('focusin', (event) => {
    if (event.target.matches('textarea')) event.target.select();
  });
  document.addEventListener('visibilitychange', wake);
  addEventListener('online', wake);
  addEventListener('pageshow', (event) => event.persisted && (adopt(), wake()));
  adopt();
  schedule();
})();
`;
