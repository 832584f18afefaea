// How the pages look: one style for wide and narrow screens, light and dark.

export const STYLE = `
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--text:#1b1f24;--muted:#565f6a;--line:#d9dee4;--link:#0b57d0;
--good:#116329;--bad:#b3261e;--warn:#8a4b00;--good-bg:#e6f4ea;--bad-bg:#fcebea;--warn-bg:#fdf3e0;--head:#eef0f3}
@media(prefers-color-scheme:dark){:root{--page:#111418;--card:#191d23;--text:#e6e9ed;--muted:#a5aeb9;--line:#323943;--link:#8ab4f8;
--good:#7bdc94;--bad:#ff9d94;--warn:#f3c46a;--good-bg:#16301f;--bad-bg:#3b1c1a;--warn-bg:#36290f;--head:#21262e}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
font-variant-numeric:tabular-nums;word-break:keep-all;overflow-wrap:normal;hyphens:none}
header,main,footer{max-width:100rem;margin:0 auto;padding:0 1.5rem}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:.25rem 1.5rem;padding-top:1.25rem}
footer{padding-top:1rem;padding-bottom:2rem;color:var(--muted)}
h1{font-size:1.3rem;line-height:1.3;margin:0}
h1 a{color:inherit;text-decoration:none}
h1 small,.muted{color:var(--muted);font-weight:400}
nav ul,.list{display:flex;flex-wrap:wrap;gap:.1rem 1rem;list-style:none;margin:0;padding:0}
a{color:var(--link);text-underline-offset:.15em;text-decoration-thickness:1px}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:2px}
.skip{position:absolute;left:-99rem;background:var(--card);padding:.5rem 1rem;z-index:1}
.skip:focus{left:1rem;top:.5rem}
.whole{white-space:nowrap}
.summary{margin:1rem 0;padding:.7rem 1rem;border-radius:.5rem;border-left:.3rem solid;font-size:1.1rem;font-weight:600}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.summary.good{background:var(--good-bg)}.summary.bad{background:var(--bad-bg)}.summary.warn{background:var(--warn-bg)}
.note{margin:.75rem 0;padding:.6rem 1rem;border-radius:.5rem;background:var(--warn-bg);color:var(--warn)}
[hidden]{display:none}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:.75rem 1.5rem;margin:1rem 0;padding:.9rem 1rem;
background:var(--card);border:1px solid var(--line);border-radius:.5rem}
.facts dt{color:var(--muted);font-size:.85rem}.facts dd{margin:0}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
table{border-collapse:collapse;width:100%}
caption{text-align:left;padding:.7rem 1rem;font-weight:600}
th,td{text-align:left;vertical-align:top;padding:.55rem 1rem;border-top:1px solid var(--line)}
thead th{background:var(--head);font-size:.85rem;font-weight:600;color:var(--muted);white-space:nowrap}
tbody th{font-weight:600}
.sub{display:block;color:var(--muted);font-size:.87rem;font-weight:400}
.sub.warn{color:var(--warn)}
.state{display:inline-block;padding:0 .6em;border-radius:1em;font-weight:600;white-space:nowrap}
.state.good{background:var(--good-bg)}.state.bad{background:var(--bad-bg)}.state.warn{background:var(--warn-bg)}
.row-bad>:first-child{box-shadow:inset .25rem 0 var(--bad)}.row-warn>:first-child{box-shadow:inset .25rem 0 var(--warn)}
progress{width:8rem;max-width:60%;height:.6rem;accent-color:var(--link)}
.bar{display:flex;align-items:center;gap:.5rem}
form{display:flex;flex-wrap:wrap;align-items:end;gap:.6rem 1rem;margin:1rem 0;padding:.9rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
label{display:block;color:var(--muted);font-size:.85rem}
.wide{flex:1 1 18rem}
input,select,button{font:inherit;color:inherit;background:var(--page);border:1px solid var(--muted);border-radius:.35rem;padding:.35rem .6rem;width:100%;min-height:2.4rem}
button{width:auto;background:var(--link);border-color:var(--link);color:var(--card);font-weight:600;padding:.35rem 1.2rem;cursor:pointer}
.pager{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;align-items:baseline;margin:.9rem 0}
.object>*{background:var(--head)}
.targets th[scope=row]{min-width:15rem}.targets .reason{max-width:24rem}
.tree thead th:first-child{width:34%}.tree thead th:nth-child(2){width:16%}.tree thead th:nth-child(3){width:22%}
.tree tbody th.variable{font-weight:400}
.prefix{color:var(--muted);font-weight:400}
.metric{display:block}
.d0{padding-left:1rem}.d1{padding-left:1.8rem}.d2{padding-left:2.6rem}.d3{padding-left:3.4rem}.d4{padding-left:4.2rem}.d5{padding-left:5rem}.d6{padding-left:5.8rem}
@media(max-width:56rem){
header,main,footer{padding-left:.75rem;padding-right:.75rem}
table,caption,tbody,tr,th,td{display:block}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tbody tr{border-top:1px solid var(--line);padding:.5rem 0}
tbody th,tbody td{border:0;padding:.15rem .9rem}
td:empty{display:none}
td[data-is]::before{content:attr(data-is) ": ";color:var(--muted);font-size:.85rem}
tbody .d1,tbody .d2,tbody .d3,tbody .d4,tbody .d5,tbody .d6{padding-left:.9rem}
.tree tr:not(.object)>*{padding-left:1.9rem}
.row-bad{box-shadow:inset .25rem 0 var(--bad)}.row-warn{box-shadow:inset .25rem 0 var(--warn)}.row-bad>:first-child,.row-warn>:first-child{box-shadow:none}
form>div{flex:1 1 9rem}button{width:100%}
.targets th[scope=row]{min-width:0}.targets .reason{max-width:none}
tr.object{background:var(--head)}
}
@media print{nav,form,.skip,.pager{display:none}}
`;
