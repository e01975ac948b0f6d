/** Everything that is not a line chart: a chunk of its own, fetched when the first such panel is on the screen. */

export { HistogramPanel } from "./histogram-panel";
export { MediaPanel } from "./media-panel";
