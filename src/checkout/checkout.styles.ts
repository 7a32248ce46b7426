/**
 * The page's only stylesheet, inlined under its hash. Colours are named by role and every text/background pair has a
 * contrast of at least 4.5:1 in both schemes. The QR code's tile stays white in the dark scheme: many bank apps do not
 * read an inverted code.
 */
export const STYLES = `
:root{color-scheme:light dark;--page:#eef2f1;--card:#fff;--ink:#10201d;--soft:#50625e;--line:#d5dedb;--edge:#7d8f89;--field:#f5f8f7;
--accent:#0b6b60;--button:#0b6b60;--on-button:#fff;--accent-tint:#e0f1ee;--good:#0a6b43;--good-tint:#dcf3e6;--warn:#845003;--warn-tint:#fdf0d5;
--bad:#a62b20;--bad-tint:#fce6e3;--shadow:0 1px 2px #10201d14,0 12px 32px #10201d14}
@media (prefers-color-scheme:dark){.logo{background:#fff}:root{--page:#0b1211;--card:#141d1b;--ink:#e9f1ef;--soft:#a0b2ad;--line:#2b3936;--edge:#677b75;--field:#0e1614;
--accent:#4fd1bd;--button:#4fd1bd;--on-button:#04231e;--accent-tint:#12302b;--good:#5fdb9e;--good-tint:#10301f;--warn:#f2bd5c;--warn-tint:#33260d;
--bad:#ff9d92;--bad-tint:#3a1916;--shadow:none}}
*{box-sizing:border-box;margin:0}
html{-webkit-text-size-adjust:100%}
body{min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;padding:0 12px 24px;border-top:4px solid var(--button);
background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.top{display:flex;width:100%;max-width:464px;min-height:52px;align-items:center;gap:10px;padding:4px 4px 4px 16px}
.top a{margin-left:auto;padding:12px;font-size:14px}
.logo{max-width:150px;max-height:40px;padding:3px;border-radius:8px}
.badge{padding:2px 10px;border-radius:99px;background:var(--warn-tint);color:var(--warn);font-size:12px;font-weight:600}
main{width:100%;max-width:464px;background:var(--card);border:1px solid var(--line);border-radius:16px;box-shadow:var(--shadow);padding:16px}
h1:focus{outline:none}
bdi,.amount{overflow-wrap:anywhere}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.js-only{display:none}
.js .js-only{display:flex}
.js .copy{display:block}
.js .no-js{display:none}
[hidden]{display:none!important}
h1{font-size:15px;font-weight:400;line-height:1.4}
h1 span{display:block}
.to{color:var(--soft)}
.to bdi{color:var(--ink);font-weight:600}
.amount{display:block;font-size:36px;font-weight:700;line-height:1.2;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.amount.long{font-size:26px}
h1+.what{margin-top:2px}
.what{font-size:15px;line-height:1.4;overflow-wrap:anywhere}
.due{margin-top:2px;color:var(--soft);font-size:13px;line-height:1.4}
.lock{margin-top:8px;padding:8px 12px;border-radius:10px;background:var(--warn-tint);color:var(--warn);font-size:14px;line-height:1.4}
.live{align-items:center;gap:10px;margin-top:10px;padding:7px 12px;border-radius:10px;background:var(--accent-tint);color:var(--accent);font-size:14px;font-weight:500}
.live b{margin-left:auto;white-space:nowrap;font-size:16px;font-weight:700;font-variant-numeric:tabular-nums}
.dot{flex:none;width:9px;height:9px;border-radius:50%;background:currentColor;animation:pulse 1.8s ease-in-out infinite}
.soon .live,.lost .live{background:var(--warn-tint);color:var(--warn)}
@keyframes pulse{50%{opacity:.25}}
.pay{display:grid;grid-template-columns:minmax(0,1fr);gap:10px;margin-top:12px}
h2,label{display:block;font-size:15px;font-weight:600;line-height:1.5}
.field{margin-top:6px;padding:10px 12px;border:1px solid var(--edge);border-radius:10px;background:var(--field)}
.field:focus-within{outline:3px solid var(--accent);outline-offset:2px}
textarea{display:block;width:100%;height:80px;padding:0;border:0;outline:none;background:none;color:inherit;
font:13px/20px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;word-break:break-all;resize:none}
textarea[rows="2"]{height:40px;word-break:normal;overflow-wrap:anywhere}
input{display:block;width:100%;min-height:24px;padding:0;border:0;outline:none;background:none;color:inherit;font:inherit}
form{display:grid;gap:16px}
form+form{margin-top:10px}
.note+form{margin-top:16px}
.error{margin-top:6px;color:var(--bad);font-size:14px}
h2.sold{margin-top:16px}
.sold{margin-top:4px;font-size:20px;font-weight:700;line-height:1.25}
.lines{margin-top:8px;white-space:pre-line}
.picture{margin-top:12px}
.picture img{display:block;width:100%;max-height:320px;object-fit:contain;border-radius:10px;background:#fff}
.hint{margin-top:6px;color:var(--soft);font-size:13px}
button,.button{width:100%;min-height:48px;padding:10px 16px;align-items:center;justify-content:center;gap:10px;border:1px solid transparent;border-radius:10px;
background:var(--button);color:var(--on-button);font:inherit;font-weight:600;text-decoration:none;cursor:pointer}
.button{display:flex}
.second{background:none;border-color:var(--edge);color:var(--ink)}
.act{flex-wrap:wrap;gap:8px}
.copy .act{display:flex}
.act button{display:flex;width:auto;flex:1}
.act [aria-label]{flex:none;width:52px;padding:0}
.plain{display:inline-block;padding:10px 6px;color:var(--accent);font-weight:500;text-decoration:underline;overflow-wrap:anywhere}
a{color:var(--accent)}
.tools{display:flex;flex-wrap:wrap;gap:4px 20px;align-items:center;justify-content:center;font-size:14px}
.tools a{display:inline-block;padding:10px 6px}
.actions{margin-top:16px}
.qr{text-align:center}
.qr>p:not(.tools){color:var(--soft);font-size:14px}
.tile{display:flex;width:264px;margin:6px auto 0;padding:3px;align-items:center;justify-content:center;border:1px solid var(--line);border-radius:12px;background:#fff;color:#10201d}
.tile img{display:block;width:256px;height:256px}
.qr .tile{width:222px}
.qr .tile img{width:214px;height:214px}
.ways{padding-top:16px;border-top:1px solid var(--line)}
.ways:first-child{padding:0;border:0}
.way{margin-top:8px;border:1px solid var(--line);border-radius:10px}
.way>:not(summary){margin:0 14px 14px}
.way .field{margin:6px 14px 10px}
.way button,.way .button{width:calc(100% - 28px)}
.way label{margin-bottom:0}
.way .tools{margin-bottom:6px}
summary{display:flex;min-height:52px;align-items:center;gap:12px;padding:8px 14px;border-radius:10px;font-weight:600;cursor:pointer;list-style:none}
summary::-webkit-details-marker{display:none}
summary svg{color:var(--accent)}
summary::after{content:"";width:8px;height:8px;margin:-4px 4px 0 auto;border:solid var(--soft);border-width:0 2px 2px 0;transform:rotate(45deg)}
[open]>summary::after{margin-top:4px;transform:rotate(225deg)}
.back{margin-top:20px;padding-top:16px;border-top:1px solid var(--line);text-align:left;font-size:15px}
.back ul{padding:0;list-style:none}
.back li{padding:8px 0 0}
small{color:var(--soft)}
.id{font:12px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.receipt h1{font-size:18px;font-weight:700}
.receipt .note{color:var(--soft);font-size:14px}
.state{display:inline-flex;align-items:center;gap:6px;margin-bottom:10px;padding:3px 12px 3px 9px;border-radius:99px;font-size:14px;font-weight:600}
.receipt .act{margin-top:16px}
dl{margin-top:16px;border-top:1px solid var(--line)}
dl div{padding:10px 0;border-bottom:1px solid var(--line)}
dt{color:var(--soft);font-size:13px}
dd{margin:0;overflow-wrap:anywhere}
button:hover{filter:brightness(1.08)}
button:active{transform:translateY(1px)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.rest{display:grid;align-content:start;gap:16px;margin-top:16px}
ol{display:grid;gap:10px;padding:0;list-style:none;counter-reset:step}
ol li{position:relative;padding-left:38px;font-size:15px;counter-increment:step}
ol li::before{content:counter(step);position:absolute;left:0;top:-1px;width:26px;height:26px;border-radius:50%;background:var(--accent-tint);color:var(--accent);font-size:13px;font-weight:700;line-height:26px;text-align:center}
.result{padding:28px 20px;text-align:center}
.result h1{margin-top:16px;font-size:22px;font-weight:700;line-height:1.25;letter-spacing:-.01em;text-wrap:balance}
.result .amount{margin-top:8px;font-size:32px}
.result .amount.long{font-size:24px}
.result .to{margin-bottom:16px}
.result .note{margin-top:8px;color:var(--soft);text-wrap:pretty}
.mark{display:inline-flex;width:72px;height:72px;align-items:center;justify-content:center;border-radius:50%}
.good{background:var(--good-tint);color:var(--good)}
.warn{background:var(--warn-tint);color:var(--warn)}
.bad{background:var(--bad-tint);color:var(--bad)}
.calm{background:var(--accent-tint);color:var(--accent)}
svg{flex:none;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
.swapped .mark{animation:arrive .35s ease-out}
@keyframes arrive{from{transform:scale(.7);opacity:0}}
@media (max-width:360px){body{padding:0 8px 16px}.amount{font-size:32px}.amount.long{font-size:21px}}
@media (max-width:859px){html:not(.js) .code{order:-1}
.qr h2,.qr>p:not(.tools){position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}}
@media (min-width:860px){body{padding:0 32px 32px}
.top{min-height:72px;padding:4px}
main{padding:32px}
.top:has(~.wide){max-width:920px}
.wide{display:grid;max-width:920px;grid-template:auto 1fr/minmax(0,1fr) 360px;gap:0 48px;padding:0 0 0 40px;overflow:hidden}
.wide .sum{padding-top:36px}
.wide .amount{font-size:44px}
.wide .amount.long{font-size:30px}
.wide .what,.wide .due,.wide .lock,.wide .live{margin-top:10px}
.wide .rest{margin:24px 0 0;padding-bottom:32px}
.wide .pay{grid-area:1/2/3/3;gap:16px;align-content:start;margin:0;padding:32px;border-left:1px solid var(--line);background:var(--field)}
.wide .pay .field,.wide .way{background:var(--card)}
.wide .way .field{background:var(--field)}
.wide .qr{order:-1}
.wide .copy .hint{display:none}
.wide .qr .tile{width:264px;margin-top:12px}
.wide .qr .tile img{width:256px;height:256px}
.result{padding:48px 40px 52px}}
@media (prefers-reduced-motion:reduce){*{animation:none!important}}
@media print{:root{color-scheme:light;--page:#fff;--card:#fff;--ink:#000;--soft:#333;--line:#bbb}.no-print,.live{display:none!important}body{padding:0;border:0}main{border:0;box-shadow:none;max-width:none}}
@media (forced-colors:active){.tile{forced-color-adjust:none}}
`;
