/** A plotly figure. */

import type { MediaItem } from "../../lib/schema";
import { FigureView } from "../charts/figure-view";
import { Picture } from "./pictures";

export function FigureItem({ item }: { item: MediaItem }) {
  return item.mime.startsWith("image/") ? <Picture item={item} /> : <FigureView item={item} />;
}
