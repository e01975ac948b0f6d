import { AudioView } from "../charts/seen-media";
import { Cells, type ContentProps } from "./content";
export function Sounds({ items, runs, columns, step }: ContentProps) {
  return <Cells items={items} runs={runs} columns={columns} step={step} render={(item) => <AudioView item={item} />} />;
}
