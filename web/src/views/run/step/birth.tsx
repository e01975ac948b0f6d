/** Where a value stopped being finite: what it was made of, the op itself, what it spoiled. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../../components";
import { WarningIcon } from "../../../components/icons";
import { visibleText } from "../../../lib/format";
import type { BirthStory, ChainLink } from "../../../lib/schema";
import { badText, meanText, rangeText, statsTitle } from "../../../lib/stat-words";
import type { Recording } from "./data";
import { openInModel } from "./details";
import * as settings from "./settings";

export function Births({ births, recording }: { births: readonly BirthStory[]; recording: Recording }) {
  const [at, setAt] = useState(0);
  const birth = births[at] ?? births[0];
  const chain = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const here = chain.current?.querySelector<HTMLElement>("[data-here]");
    if (here && chain.current) chain.current.scrollLeft = here.offsetLeft - chain.current.clientWidth / 2;
  }, [birth?.index]);
  if (!birth) return null;
  return (
    <section
      class="rigid under step-birth"
      data-harmless={birth.reaches ? undefined : true}
      aria-label="First value that is not finite"
    >
      <header>
        <WarningIcon size={16} />
        <h2 class="isolate">{visibleText(birth.headline)}</h2>
        <span class="quiet isolate">
          {birth.reaches ? `it reaches ${visibleText(birth.reaches)}` : "it reaches neither the loss nor a gradient"}
        </span>
        <span class="spring" />
        {births.length > 1 ? (
          <Button kind="quiet" onClick={() => setAt((at + 1) % births.length)}>
            {at + 1} of {births.length}
          </Button>
        ) : null}
        <Button kind="quiet" onClick={() => settings.showOp(birth.index)}>
          Show the op
        </Button>
        <Button
          kind="quiet"
          onClick={() =>
            openInModel(recording, { index: birth.index, phase: birth.kind === "backward" ? "backward" : "forward" })
          }
        >
          In the graph
        </Button>
      </header>
      {birth.text ? (
        <p class="step-birth-line mono isolate">
          <span class="quiet">{visibleText(birth.place)}</span> {visibleText(birth.text)}
        </p>
      ) : null}
      <ol ref={chain} class="step-chain" aria-label="Path of the value" tabIndex={0}>
        {birth.chain.map((link) => (
          <Link key={link.index} link={link} />
        ))}
      </ol>
    </section>
  );
}

function Link({ link }: { link: ChainLink }) {
  const stats = link.output?.stats;
  const odd = badText(stats);
  return (
    <li data-here={link.here || undefined} data-bad={link.bad || undefined}>
      <button
        type="button"
        title={`op ${link.index}${link.module ? ` in ${visibleText(link.module)}` : ""}: ${statsTitle(stats)}`}
        onClick={() => settings.showOp(link.index)}
      >
        <span class="step-chain-name isolate ellipsis">{visibleText(link.name)}</span>
        <span class="step-chain-values mono ellipsis">
          {odd ? <span class="medium bad">{odd}</span> : rangeText(stats) || meanText(stats) || "\u00a0"}
        </span>
        {link.here ? <span class="badge step-tag step-tag-bad">born here</span> : null}
      </button>
    </li>
  );
}
