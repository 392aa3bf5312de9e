(() => {
"use strict";
const dark = matchMedia("(prefers-color-scheme: dark)");
const touch = matchMedia("(pointer: coarse)").matches;
const inTheDark = {"#1b1f24": "#e6e9ec", "#57606a": "#a9b1ba", "#e6eaee": "#2a3037",
                   "#ffffff": "#15181c", "#0072b2": "#3f9fe0"};
const documents = new Map();
let printing = false, latest = 0;

function show(button) {
  const document = documents.get(button.closest("figure"));
  if (!document) return;
  const on = button.getAttribute("aria-pressed") === "true";
  for (const id of button.dataset.lines.split(" ")) document.get_model_by_id(id).visible = on;
}

async function draw() {
  const mine = ++latest;
  document.documentElement.classList.toggle("dark", dark.matches);
  for (const element of document.querySelectorAll("script.chart")) {
    if (mine !== latest) return;  // the colors changed meanwhile
    const figure = element.closest("figure");
    documents.get(figure)?.clear();
    let text = element.textContent;
    if (dark.matches)
      for (const [light, other] of Object.entries(inTheDark))
        text = text.replaceAll(`"${light}"`, `"${other}"`);
    const roots = {};
    for (const place of figure.querySelectorAll(".plot")) {
      place.replaceChildren();
      roots[place.dataset.figure] = place;
    }
    const ids = Object.keys(roots);
    await Bokeh.embed.embed_items({chart: JSON.parse(text)},
                                  [{docid: "chart", roots, root_ids: ids}]);
    const drawn = Bokeh.documents[Bokeh.documents.length - 1];
    documents.set(figure, drawn);
    figure.querySelectorAll("[data-lines]").forEach(show);
    if (touch)  // a finger scrolls the page; a tap on the toolbar switches zooming on
      for (const id of ids) drawn.get_model_by_id(id).toolbar.tools.forEach(tool => {
        if (tool.type === "BoxZoomTool") tool.active = false;
      });
  }
  document.documentElement.dataset.drawn = "all";
}

document.addEventListener("click", event => {
  const button = event.target.closest("[data-lines]");
  if (!button) return;
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(on));
  show(button);
});
// A browser prints in light colors; the charts keep theirs meanwhile.
addEventListener("beforeprint", () => { printing = true; });
addEventListener("afterprint", () => { printing = false; });
dark.addEventListener("change", () => { if (!printing) draw(); });
draw();
})();
