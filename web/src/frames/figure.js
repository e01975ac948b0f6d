/* Runs inside the figure's frame, beside plotly. The frame has an origin of its own and may fetch nothing: all it knows
   is the figure that our page hands in, and all it can do is draw it and say so. */

const place = document.getElementById("figure");
const CONFIG = {
  responsive: true,
  displaylogo: false,
  modeBarButtonsToRemove: ["toImage", "sendDataToCloud"],
  showLink: false,
};

/** On a dark page a figure that names no background of its own is drawn on ours. */
function inked(layout, inks) {
  const own = { ...layout, autosize: true };
  delete own.width;
  delete own.height;
  if (!inks || own.paper_bgcolor || own.plot_bgcolor) return own;
  const axis = { gridcolor: inks.line, zerolinecolor: inks.line, linecolor: inks.line };
  own.paper_bgcolor = inks.background;
  own.plot_bgcolor = inks.background;
  own.font = { color: inks.text, ...own.font };
  for (const name of new Set(["xaxis", "yaxis", ...Object.keys(own).filter((key) => /^[xy]axis\d*$/.test(key))]))
    own[name] = { ...axis, ...own[name] };
  for (const name of new Set(["scene", ...Object.keys(own).filter((key) => /^scene\d*$/.test(key))])) {
    const scene = own[name] ?? {};
    const side = { ...axis, backgroundcolor: inks.background, color: inks.text };
    own[name] = {
      ...scene,
      xaxis: { ...side, ...scene.xaxis },
      yaxis: { ...side, ...scene.yaxis },
      zaxis: { ...side, ...scene.zaxis },
    };
  }
  return own;
}

async function draw({ figure, inks }) {
  try {
    const { data = [], layout = {}, frames } = JSON.parse(figure);
    document.body.style.background = inks?.background ?? "#ffffff";
    await Plotly.react(place, data, inked(layout, inks), CONFIG);
    if (Array.isArray(frames) && frames.length) await Plotly.addFrames(place, frames);
    parent.postMessage({ drawn: true }, "*");
  } catch (fault) {
    parent.postMessage({ fault: String(fault?.message ?? fault) }, "*");
  }
}

addEventListener("message", (event) => {
  if (event.source === parent && typeof event.data?.figure === "string") void draw(event.data);
});
parent.postMessage({ ready: true }, "*");
