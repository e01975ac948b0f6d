import type { MediaItem } from "../../lib/schema";
import { CurvesView } from "../charts/data-media";
export function Curves({ items }: { items: readonly MediaItem[]; step: number | null }) {
  return <div class="media-together"><CurvesView items={items} /></div>;
}
