/** In a file that was shared: a Vega-Lite panel needs more script than the rest of the report together. */

export function VegaFigure() {
  return <p class="quiet">This Vega-Lite panel is drawn in the app; open the report there to see it.</p>;
}
