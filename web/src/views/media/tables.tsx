import type { MediaItem } from "../../lib/schema";
import { TableView } from "../charts/table-view";
import { useOneRun } from "./one-run";
export function Tables({ items }: { items: readonly MediaItem[]; step: number | null }) {
  const { item, chips } = useOneRun(items);
  return <div class="media-together">{chips}<TableView item={item} /></div>;
}
