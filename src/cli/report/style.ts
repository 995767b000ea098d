/** How the page looks, by day and by night. Colours are told apart also where red and green are not: by their lightness. */
export const style = `
:root {
  color-scheme: light dark;
  --ground: #ffffff; --panel: #f6f7f9; --ink: #1b1f24; --soft: #59636e; --line: #d8dde3; --faint: #eceff2;
  --succeeded: #4c9f70; --failed: #c8402f; --lost: #8656b8; --cancelled: #d79a1e; --running: #3d82c9; --waiting: #a9b2bc;
  --slots: #59636e; --good: #1f7a45; --bad: #b3301f; --live: #1f66ab;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --panel: #1c2025; --ink: #e6e9ec; --soft: #9aa4ae; --line: #353c44; --faint: #262b31;
    --succeeded: #4da877; --failed: #e0604e; --lost: #a883d8; --cancelled: #d9a63f; --running: #5a9be0; --waiting: #5d6771;
    --slots: #9aa4ae; --good: #6cc795; --bad: #f0806f; --live: #7db4ee;
  }
}
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--ink); font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
body { margin: 0; }
#page { max-width: 1240px; margin: 0 auto; padding: 20px 24px 40px; }
h1 { font-size: 24px; line-height: 1.2; margin: 0; font-weight: 650; overflow-wrap: anywhere; }
h1 .id { color: var(--soft); font-weight: 400; margin-right: .35em; }
h2 { font-size: 15px; margin: 30px 0 10px; font-weight: 650; }
h2 small, .note { color: var(--soft); font-size: 13px; font-weight: 400; }
h3 { font-size: 13px; margin: 0 0 6px; font-weight: 600; }
p { margin: 4px 0; }
a { color: inherit; }
code, pre, .command { font: 12px/1.5 ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
bdi, code, pre { unicode-bidi: isolate; }
.soft { color: var(--soft); }
header { display: flex; align-items: center; gap: 12px; flex-wrap: wrap; }
.state { border-radius: 99px; padding: 2px 11px; font-weight: 600; font-size: 13px; border: 1px solid currentColor; }
.state.good { color: var(--good); } .state.bad { color: var(--bad); } .state.live { color: var(--live); } .state.off { color: var(--soft); }
.banner { border-left: 3px solid var(--live); background: var(--panel); padding: 8px 12px; margin: 12px 0 0; border-radius: 0 6px 6px 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(132px, 1fr)); gap: 10px; margin: 16px 0 0; }
.tile { background: var(--panel); border-radius: 8px; padding: 10px 14px; min-width: 0; }
.tile.double { grid-column: span 2; }
.tile b { display: block; font-size: 20px; font-weight: 620; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 12.5px; }
.shares { display: flex; height: 8px; border-radius: 4px; overflow: hidden; margin: 9px 0 6px; background: var(--faint); }
.shares i { display: block; min-width: 2px; }
.legend { display: flex; gap: 4px 14px; flex-wrap: wrap; color: var(--soft); font-size: 12.5px; }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 5px; vertical-align: -1px; }
.legend i.slots { height: 0; border-top: 2px dashed var(--slots); border-radius: 0; vertical-align: 3px; width: 14px; }
.legend i.path { background: none; border: 2px solid var(--ink); }
.succeeded { fill: var(--succeeded); background-color: var(--succeeded); } .failed { fill: var(--failed); background-color: var(--failed); }
.lost { fill: var(--lost); background-color: var(--lost); } .cancelled { fill: var(--cancelled); background-color: var(--cancelled); }
.running { fill: var(--running); background-color: var(--running); } .waiting { fill: var(--waiting); background-color: var(--waiting); }
.bars-title { display: flex; align-items: end; justify-content: space-between; gap: 12px; flex-wrap: wrap; margin: 30px 0 8px; }
.bars-title h2 { margin: 0; }
#zoom { display: flex; gap: 4px; }
#zoom[hidden] { display: none; }
button { font: inherit; font-size: 13px; line-height: 1; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 5px 10px; cursor: pointer; }
button:hover { border-color: var(--soft); }
:focus-visible { outline: 2px solid var(--live); outline-offset: 2px; }
#timeline { position: relative; border: 1px solid var(--line); border-radius: 8px; padding: 8px 0 24px; overflow: hidden; touch-action: pan-y; user-select: none; }
#timeline.zoomed { cursor: grab; }
.row { display: grid; grid-template-columns: 132px minmax(0, 1fr); align-items: stretch; padding-right: 14px; }
.row + .row { margin-top: 10px; padding-top: 10px; border-top: 1px solid var(--faint); }
.row > svg { display: block; width: 100%; overflow: hidden; }
.names { font-size: 11px; line-height: 1; color: var(--soft); padding: 0 10px 0 14px; min-width: 0; }
.names div { display: flex; align-items: center; justify-content: space-between; gap: 6px; overflow: hidden; white-space: nowrap; }
.names span { overflow: hidden; text-overflow: ellipsis; }
.names strong { color: var(--ink); font-weight: 600; font-size: 12px; }
.names.text { line-height: 1.35; }
.area { position: absolute; left: 132px; right: 14px; top: 0; bottom: 0; pointer-events: none; }
.grid { position: absolute; inset: 0; overflow: hidden; }
.grid span { position: absolute; top: 0; bottom: 0; border-left: 1px solid var(--faint); font-size: 11px; color: var(--soft); display: flex; align-items: end; padding: 0 0 4px 4px; white-space: nowrap; }
.grid i { position: absolute; top: 0; bottom: 20px; border-left: 2px dotted var(--soft); font-size: 11px; line-height: 1.2; font-style: normal; color: var(--soft); padding: 3px 0 0 4px; white-space: nowrap; }
.grid i.late { transform: translateX(-100%); border-left: 0; border-right: 2px dotted var(--soft); padding: 3px 4px 0 0; }
#timeline.cut { padding-top: 14px; }
.cursor { position: absolute; top: 0; bottom: 18px; border-left: 1px solid var(--soft); }
.row > svg, .names { position: relative; }
.bar { stroke-width: 1px; vector-effect: non-scaling-stroke; }
.bar.succeeded { stroke: var(--succeeded); } .bar.failed { stroke: var(--failed); } .bar.lost { stroke: var(--lost); }
.bar.cancelled { stroke: var(--cancelled); } .bar.running { stroke: var(--running); }
.bar.wide { stroke: var(--ground); }
.bar.path { stroke: var(--ink); stroke-width: 2px; }
.bar.chosen { stroke: var(--ink); stroke-width: 2px; }
.bin { stroke: var(--ground); stroke-width: 1px; vector-effect: non-scaling-stroke; }
.slots-line { fill: none; stroke: var(--slots); stroke-width: 1.5px; stroke-dasharray: 5 4; vector-effect: non-scaling-stroke; }
#tip { position: fixed; z-index: 2; max-width: min(560px, 90vw); background: var(--ground); border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 4px 18px #0003; padding: 8px 12px; font-size: 12.5px; pointer-events: none; }
#tip .head { font-weight: 650; } #tip .fact { color: var(--soft); font-variant-numeric: tabular-nums; }
#tip .command { margin-top: 4px; max-height: 12em; overflow: hidden; overflow-wrap: anywhere; unicode-bidi: isolate; }
#tip .command:empty { display: none; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 14px; }
.panel { background: var(--panel); border-radius: 8px; padding: 12px 16px; min-width: 0; }
.panel svg { display: block; width: 100%; }
.ends { display: flex; justify-content: space-between; color: var(--soft); font-size: 11px; margin: 3px 0 8px; font-variant-numeric: tabular-nums; }
.quantiles { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 5px 10px; margin: 0; }
.quantiles dt { color: var(--soft); font-size: 11px; } .quantiles dd { margin: 0; font-variant-numeric: tabular-nums; font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th { text-align: left; color: var(--soft); font-weight: 500; font-size: 12px; padding: 4px 14px 5px 0; border-bottom: 1px solid var(--line); white-space: nowrap; vertical-align: bottom; }
td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--faint); vertical-align: top; overflow-wrap: anywhere; }
td.n, th.n { text-align: right; white-space: nowrap; overflow-wrap: normal; font-variant-numeric: tabular-nums; }
td.t { white-space: nowrap; overflow-wrap: normal; } td.c { min-width: 16em; }
td .command { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; color: var(--soft); }
.meter { display: inline-block; vertical-align: 1px; width: 60px; height: 6px; border-radius: 3px; background: var(--line); overflow: hidden; margin-left: 8px; }
.meter i { display: block; height: 100%; background: var(--running); } .meter i.over { background: var(--failed); }
.advice { font-weight: 600; }
.spark { display: block; width: 90px; height: 20px; }
.spark path { fill: var(--running); fill-opacity: .25; stroke: var(--running); stroke-width: 1.2px; vector-effect: non-scaling-stroke; }
.failure { border: 1px solid var(--line); border-left: 3px solid var(--failed); border-radius: 0 8px 8px 0; padding: 10px 14px; margin: 0 0 10px; }
.failure h3 { font-size: 14px; } .failure pre { background: var(--panel); border-radius: 6px; padding: 8px 10px; margin: 6px 0; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 14em; overflow: auto; }
.failure .mark { font: 12px ui-monospace, monospace; color: var(--soft); font-weight: 400; }
.long { display: block; max-height: 4.6em; overflow: auto; overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 3px 16px; margin: 0; }
.facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--soft); padding: 2px 0 6px; }
footer { color: var(--soft); font-size: 12px; margin-top: 34px; border-top: 1px solid var(--line); padding-top: 10px; }
@media (max-width: 640px) { #page { padding: 14px; } .row { grid-template-columns: 84px minmax(0, 1fr); padding-right: 6px; } .area { left: 84px; right: 6px; } .tile.double { grid-column: auto; } }
@media print { #zoom { display: none; } .failure, .panel, tr { break-inside: avoid; } }
`;
