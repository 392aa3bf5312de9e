# SPDX-License-Identifier: Apache-2.0

"""The style of a page: sections below each other, charts in a grid; light, dark, and for print."""

PAGE_STYLE = """
:root{--ink:#1b1f24;--soft:#57606a;--text:#3a424a;--rule:#d9dee3;--tint:#f5f7f9;--link:#0b5c95;
--paper:#fff;--blue:#0072b2;--ok:#1a6b3c;--off:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--soft:#a9b1ba;--text:#c9d0d6;
--rule:#333a42;--tint:#1e2329;--link:#6cb6f0;--paper:#15181c;--blue:#3f9fe0;
--ok:#5ec98a;--off:#ff8f86}}
*{box-sizing:border-box}
body{margin:0;color:var(--ink);background:var(--paper);font:16px/1.5 system-ui,
-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
header,main{max-width:1240px;margin:0 auto;padding:0 24px}
header{padding-top:28px;border-bottom:1px solid var(--rule)}
h1{font-size:1.75rem;line-height:1.2;margin:0}
h2{font-size:1.25rem;margin:0 0 .4rem;padding-top:1.6rem}
h3{font-size:1rem;margin:1rem 0 .3rem}
.sub{color:var(--soft);margin:.3rem 0 1rem}
.say{max-width:75ch;margin:.2rem 0 .6rem;color:var(--text)}
nav{display:flex;flex-wrap:wrap;gap:2px 18px;padding-bottom:12px;font-size:.9rem}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
figure{margin:0}
.legend{display:flex;flex-wrap:wrap;gap:4px 6px;margin:.2rem 0 .5rem}
.legend button{font:inherit;font-size:.9rem;color:var(--ink);background:none;cursor:pointer;
border:1px solid transparent;border-radius:4px;padding:2px 8px}
.legend button:hover,.legend button:focus-visible{border-color:var(--rule)}
.legend button[aria-pressed=false]{color:var(--soft);text-decoration:line-through}
.legend button[aria-pressed=false] i{opacity:.25}
.legend i{display:inline-block;width:34px;margin-right:7px;vertical-align:middle}
.grid{display:grid;gap:14px 18px;grid-template-columns:1fr}
.grid>*{min-width:0}
.grid h3{font-size:.82rem;margin:.2rem 0 0}
.c1 .panel{max-width:900px}
@media(min-width:560px){.c3{grid-template-columns:1fr 1fr}}
@media(min-width:980px){.c2{grid-template-columns:1fr 1fr}.c3{grid-template-columns:1fr 1fr 1fr}}
.cards{display:flex;flex-wrap:wrap;gap:10px;margin:1.2rem 0 0}
.cards div{flex:1 1 150px;background:var(--tint);border:1px solid var(--rule);border-radius:6px;
padding:8px 12px}
.cards dt{font-size:.8rem;color:var(--soft)}
.cards dd{margin:0;font-size:1.15rem;font-weight:600;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto;margin:.4rem 0 1rem}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums;width:100%}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:4px 10px 4px 0;border-bottom:1px solid var(--rule);text-align:left;
vertical-align:top}
thead th{color:var(--soft);font-weight:500}
tbody th{font-weight:600;white-space:nowrap}
.wrap tbody th{white-space:normal}
.beside{display:grid;gap:4px 28px;margin:.2rem 0 .8rem}
@media(min-width:760px){.beside{grid-template-columns:1fr 1.4fr}}
.beside p{margin:0}.beside .scroll{margin-top:0}.beside tbody th{white-space:normal}
@media(max-width:720px){table{font-size:.78rem}th,td{padding-right:6px}}
.ok{color:var(--ok)}.off{color:var(--off)}
main{padding-bottom:40px}
@media print{@page{margin:14mm}
body{font-size:10pt}header,main{max-width:none;padding:0}nav{display:none}
.c2{grid-template-columns:1fr 1fr}.c3{grid-template-columns:1fr 1fr 1fr}.c1 .panel{max-width:140mm}
.dark .plot{background:#15181c}
section,.panel,tr,.cards div{break-inside:avoid}h2,.legend,.say{break-after:avoid}
.legend,.say,.beside{font-size:9pt}.cards div{flex-basis:100px}.cards dd{font-size:11pt}
.scroll{overflow:visible}table{font-size:7pt}h2{padding-top:.8rem}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
""".strip()
