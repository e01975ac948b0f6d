import type { MediaItem } from "../../lib/schema";
import { EmbeddingView } from "../charts/embedding-view";
import { useOneRun } from "./one-run";
export function Projector({ items }: { items: readonly MediaItem[]; all: readonly MediaItem[]; step: number | null }) {
  const { item, chips } = useOneRun(items);
  return <div class="media-together">{chips}<EmbeddingView item={item} sprites={undefined} /></div>;
}
