import type { MediaItem } from "../../lib/schema";
import { ConfusionView } from "../charts/data-media";
export function Confusions({ items }: { items: readonly MediaItem[]; step: number | null }) {
  return <div class="media-together">{items.map((item) => <ConfusionView key={item.run} item={item} />)}</div>;
}
