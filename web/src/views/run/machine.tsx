/** Where a run ran: machine, variables, packages. */

import { Button, copyText } from "../../components";
import { CopyIcon } from "../../components/icons";
import { formatBytes } from "../../lib/format";
import { requirements } from "../../lib/reproduce";
import type { RunDetail } from "../../lib/schema";
import { type Pair, Pairs } from "./pieces";

/** Processor, memory and devices, in words. */
export function hardwareOf({ environment }: RunDetail): Pair[] {
  return Object.entries(environment.hardware)
    .map(
      ([key, value]): Pair => [
        HARDWARE[key] ?? key.replace(/_bytes$/, "").replace(/_/g, " "),
        hardwareWords(key, value),
      ],
    )
    .filter(([, value]) => value !== "" && value !== null && value !== 0);
}

const HARDWARE: Record<string, string> = { cpu: "processor", cpu_count: "cores", memory_bytes: "memory", gpus: "GPUs" };

export function Machine({ run }: { run: RunDetail }) {
  const { environment } = run;
  const facts: Pair[] = [
    ["host", environment.host],
    ["user", environment.user],
    ["platform", environment.platform],
    ["Python", environment.python],
    ["Stepscope", environment.stepscope],
    ...hardwareOf(run),
  ];
  return (
    <>
      <Pairs title="Machine" pairs={facts.filter(([, value]) => value !== "" && value !== null)} />
      <Pairs title="Variables" pairs={Object.entries(environment.env)} />
    </>
  );
}

export function Packages({ run }: { run: RunDetail }) {
  const { packages } = run.environment;
  const names = Object.keys(packages);
  if (names.length === 0) return null;
  return (
    <Pairs
      title="Packages"
      pairs={FIRST.filter((name) => name in packages)
        .concat(names.filter((name) => !FIRST.includes(name)))
        .map((name): Pair => [name, packages[name]])}
      aside={
        <Button
          kind="quiet"
          onClick={() => void copyText(requirements(packages), "Copied as requirements.txt")}
          title="Copy as requirements.txt"
        >
          <CopyIcon size={13} /> {names.length}
        </Button>
      }
    />
  );
}

/** What people look for, above the alphabet. */
const FIRST = ["torch", "torchvision", "torchaudio", "transformers", "lightning", "accelerate", "numpy"];

function hardwareWords(key: string, value: unknown): unknown {
  if (key.endsWith("_bytes") && typeof value === "number") return formatBytes(value);
  if (!Array.isArray(value)) return value;
  const words = value.map((one: unknown) =>
    isNamed(one) ? `${one.name}${one.memory_bytes ? ` (${formatBytes(one.memory_bytes)})` : ""}` : JSON.stringify(one),
  );
  return [...new Set(words)]
    .map(
      (one) =>
        `${words.filter((other) => other === one).length > 1 ? `${words.filter((other) => other === one).length} × ` : ""}${one}`,
    )
    .join(", ");
}

function isNamed(value: unknown): value is { name: string; memory_bytes?: number } {
  return typeof value === "object" && value !== null && "name" in value;
}
