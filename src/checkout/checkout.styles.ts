/**
 * The page's only stylesheet, inlined under its hash. Colours are named by role and every text/background pair has a
 * contrast of at least 4.5:1 in both schemes. The QR code's tile stays white in the dark scheme: many bank apps do not
 * read an inverted code.
 */
export const STYLES = `
:root{color-scheme:light dark;--page:#eef2f1;--card:#fff;--ink:#10201d;--soft:#50625e;--line:#d5dedb;--edge:#7d8f89;--field:#f5f8f7;
--accent:#0b6b60;--button:#0b6b60;--on-button:#fff;--accent-tint:#e0f1ee;--good:#0a6b43;--good-tint:#dcf3e6;--warn:#845003;--warn-tint:#fdf0d5;
--bad:#a62b20;--bad-tint:#fce6e3;--shadow:0 1px 2px #10201d14,0 12px 32px #10201d14}
@media (prefers-color-scheme:dark){:root{--page:#0b1211;--card:#141d1b;--ink:#e9f1ef;--soft:#a0b2ad;--line:#2b3936;--edge:#677b75;--field:#0e1614;
--accent:#4fd1bd;--button:#4fd1bd;--on-button:#04231e;--accent-tint:#12302b;--good:#5fdb9e;--good-tint:#10301f;--warn:#f2bd5c;--warn-tint:#33260d;
--bad:#ff9d92;--bad-tint:#3a1916;--shadow:none}}
*{box-sizing:border-box;margin:0}
html{-webkit-text-size-adjust:100%}
body{min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;padding:16px;
background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{width:100%;max-width:448px;background:var(--card);border:1px solid var(--line);border-radius:20px;box-shadow:var(--shadow);padding:24px}
h1:focus{outline:none}
bdi,.amount{overflow-wrap:anywhere}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.js-only{display:none}
.js .js-only{display:flex}
.js .no-js{display:none}
[hidden]{display:none!important}
.badge{display:inline-block;margin-bottom:18px;padding:3px 12px;border-radius:99px;background:var(--warn-tint);color:var(--warn);font-size:13px;font-weight:600}
h1{font-size:16px;font-weight:400;line-height:1.4}
h1 span{display:block}
.to{color:var(--soft)}
.to bdi{color:var(--ink);font-weight:600}
.amount{display:block;margin-top:2px;font-size:40px;font-weight:700;line-height:1.15;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.amount.long{font-size:28px}
.due{margin-top:8px;color:var(--soft);font-size:14px}
.live{align-items:center;gap:10px;margin-top:16px;padding:10px 14px;border-radius:12px;background:var(--accent-tint);color:var(--accent);font-size:15px;font-weight:500}
.live b{margin-left:auto;white-space:nowrap;font-weight:700;font-variant-numeric:tabular-nums}
.dot{flex:none;width:9px;height:9px;border-radius:50%;background:currentColor;animation:pulse 1.8s ease-in-out infinite}
.soon .live,.lost .live{background:var(--warn-tint);color:var(--warn)}
@keyframes pulse{50%{opacity:.25}}
.pay{display:grid;grid-template-columns:minmax(0,1fr);gap:24px;margin-top:24px}
h2,label{display:block;font-size:15px;font-weight:600;line-height:1.5}
.field{margin-top:8px;padding:11px 12px;border:1px solid var(--edge);border-radius:12px;background:var(--field)}
.field:focus-within{outline:3px solid var(--accent);outline-offset:2px}
textarea{display:block;width:100%;height:80px;padding:0;border:0;outline:none;background:none;color:inherit;
font:13px/20px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;word-break:break-all;resize:none}
input{display:block;width:100%;min-height:24px;padding:0;border:0;outline:none;background:none;color:inherit;font:inherit}
form{display:grid;gap:18px;margin-top:24px}
form button{margin-top:6px}
.error{margin-top:6px;color:var(--bad);font-size:14px}
.sold{margin-top:4px;font-size:22px;font-weight:700;line-height:1.25}
.lines{white-space:pre-line}
.picture{margin-top:16px}
.picture img{display:block;width:100%;max-height:320px;object-fit:contain;border-radius:12px;background:#fff}
.hint{margin-top:8px;color:var(--soft);font-size:14px}
button,.button{width:100%;min-height:52px;margin-top:12px;padding:10px 16px;align-items:center;justify-content:center;gap:10px;border:1px solid transparent;border-radius:12px;
background:var(--button);color:var(--on-button);font:inherit;font-weight:600;text-decoration:none;cursor:pointer}
.button{display:flex}
.second{background:none;border-color:var(--edge);color:var(--ink)}
.plain{width:auto;min-height:44px;margin:0;padding:10px 6px;background:none;color:var(--accent);border:0;font-weight:500;text-decoration:underline;overflow-wrap:anywhere}
a{color:var(--accent)}
.tools{display:flex;flex-wrap:wrap;gap:4px 20px;align-items:center;justify-content:center;margin-top:8px}
.tools a{display:inline-block;padding:10px 6px}
.actions{margin-top:16px}
.brand{margin-bottom:16px}
.brand img{display:inline-block;max-width:160px;max-height:56px;padding:4px;border-radius:10px;background:#fff}
.what{margin-top:8px;overflow-wrap:anywhere}
.lock{margin-top:12px;padding:10px 14px;border-radius:12px;background:var(--warn-tint);color:var(--warn);font-size:15px}
.ways{display:grid;gap:8px;margin-top:24px;padding-top:24px;border-top:1px solid var(--line)}
.ways .button,.ways button{margin-top:4px}
.back{margin-top:24px;padding-top:20px;border-top:1px solid var(--line);text-align:left;font-size:15px}
.back ul{padding:0;list-style:none}
.back li{padding:8px 0 0}
small{color:var(--soft);font-size:13px;overflow-wrap:anywhere}
.receipt h1{margin-bottom:8px;font-size:20px;font-weight:700}
dl{margin-top:20px;border-top:1px solid var(--line)}
dl div{padding:12px 0;border-bottom:1px solid var(--line)}
dt{color:var(--soft);font-size:14px}
dd{margin:0;overflow-wrap:anywhere}
footer{margin-top:20px;font-size:14px}
footer a{display:inline-block;padding:10px}
button:hover{filter:brightness(1.08)}
button:active{transform:translateY(1px)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.qr{padding-top:24px;border-top:1px solid var(--line);text-align:center}
.qr p{color:var(--soft);font-size:14px}
.tile{display:flex;width:266px;min-height:266px;margin:12px auto 0;padding:4px;align-items:center;justify-content:center;border:1px solid var(--line);border-radius:16px;background:#fff;color:#10201d}
.tile img{display:block;width:256px;height:256px}
ol{display:grid;gap:10px;padding:24px 0 0;border-top:1px solid var(--line);list-style:none;counter-reset:step}
ol li{position:relative;padding-left:38px;font-size:15px;counter-increment:step}
ol li::before{content:counter(step);position:absolute;left:0;top:-1px;width:26px;height:26px;border-radius:50%;background:var(--accent-tint);color:var(--accent);font-size:13px;font-weight:700;line-height:26px;text-align:center}
.result{padding:32px 24px 36px;text-align:center}
.result h1{margin-top:20px;font-size:24px;font-weight:700;line-height:1.25;letter-spacing:-.01em;text-wrap:balance}
.result .amount{font-size:32px;margin-top:10px}
.result .amount.long{font-size:24px}
.result .to{margin-bottom:20px}
.result .note{margin-top:10px;color:var(--soft);text-wrap:pretty}
.mark{display:inline-flex;width:72px;height:72px;align-items:center;justify-content:center;border-radius:50%;background:var(--field);color:var(--soft)}
.mark.good{background:var(--good-tint);color:var(--good)}
.mark.warn{background:var(--warn-tint);color:var(--warn)}
.mark.bad{background:var(--bad-tint);color:var(--bad)}
.mark.calm{background:var(--accent-tint);color:var(--accent)}
svg{flex:none;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.swapped .mark{animation:arrive .35s ease-out}
@keyframes arrive{from{transform:scale(.7);opacity:0}}
@media (max-width:360px){body{padding:10px}main{padding:20px 16px}.amount{font-size:34px}.amount.long{font-size:22px}}
@media (min-width:860px){body{justify-content:center;padding:32px}main.wide{max-width:880px;padding:40px;display:grid;grid-template-columns:minmax(0,1fr) 320px;gap:0 48px;align-items:start}
main.wide .pay{display:contents}
main.wide header,main.wide .code,main.wide .rest{grid-column:1}
main.wide .code,main.wide .rest{margin-top:24px}
main.wide .qr{grid-column:2;grid-row:1/4;align-self:center;padding:0;border:0}
main.wide .tile{margin-top:16px}
.result{padding:48px 40px 52px}}
@media (prefers-reduced-motion:reduce){*{animation:none!important}}
@media print{:root{--page:#fff;--card:#fff;--ink:#000;--soft:#333}.no-print,.live{display:none!important}body{padding:0}main{border:0;box-shadow:none;max-width:none}}
@media (forced-colors:active){.tile{forced-color-adjust:none}}
`;
