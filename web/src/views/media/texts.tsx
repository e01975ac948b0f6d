import type { MediaItem } from "../../lib/schema";
import { TextView } from "../charts/text-view";
import { useOneRun } from "./one-run";
export function Texts({ items }: { items: readonly MediaItem[]; step: number | null }) {
  const { item, chips } = useOneRun(items);
  return <div class="media-together">{chips}<TextView item={item} /></div>;
}
