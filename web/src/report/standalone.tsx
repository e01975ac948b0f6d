/**
 * A report alone, in one file that carries its data: nothing is fetched, and it opens from a mail, a folder or a link.
 * The calls that its panels make are answered from the pack (`lib/report-pack.ts`).
 */

import "../style/tokens.css";
import "../style/base.css";
import "../style/components.css";
import "../style/parts.css";
import "../style/standalone.css";
import "../style/report.css";
import "../style/report-panels.css";
import "../style/report-print.css";
import "../style/report-file.css";
import { render } from "preact";
import { Toasts } from "../components";
import { IconButton } from "../components/button";
import { LogoIcon, MoonIcon, PrinterIcon, SunIcon } from "../components/icons";
import { setSource } from "../lib/api";
import { formatDate, formatTime, visibleText } from "../lib/format";
import { beginsWithTitle, headingsOf, settle, type Shown } from "../lib/report-blocks";
import { type Pack, packSource, readPack } from "../lib/report-pack";
import { standAlone } from "../panels/parts/standing";
import { remember } from "../state";
import { isDark, themeChoice } from "../theme";
import { ReportBody } from "../views/reports/body";
import { Contents } from "../views/reports/contents";
import { deadLinks, preparePrinting } from "./printing";

function Page({ pack, shown }: { pack: Pack; shown: readonly Shown[] }) {
  return (
    <>
      <header class="hstack solo-bar">
        <LogoIcon size={18} />
        <span class="soft isolate ellipsis solo-title">{visibleText(pack.title)}</span>
        <span class="spring" />
        <IconButton label="Print, or save as PDF" onClick={() => print()}>
          <PrinterIcon />
        </IconButton>
        <IconButton
          label={isDark.value ? "Light" : "Dark"}
          onClick={() => (themeChoice.value = isDark.peek() ? "light" : "dark")}
        >
          {isDark.value ? <SunIcon /> : <MoonIcon />}
        </IconButton>
      </header>
      <main class="report-spread">
        <Contents headings={headingsOf(shown)} scroller={null} />
        <article class="report">
          {beginsWithTitle(shown) ? null : <h1 class="report-title isolate">{visibleText(pack.title)}</h1>}
          <p class="report-byline isolate">
            {[pack.author, pack.project, formatDate(pack.made)].filter(Boolean).map(visibleText).join(" · ")}
          </p>
          <ReportBody shown={shown} />
          <Foot pack={pack} />
        </article>
      </main>
      <Toasts />
    </>
  );
}

function Foot({ pack }: { pack: Pack }) {
  return (
    <footer class="small over quiet report-foot-note">
      {pack.left_out.length > 0 ? (
        <details>
          <summary>Not in this file</summary>
          <ul>
            {pack.left_out.map((sentence) => (
              <li key={sentence} class="isolate">
                {visibleText(sentence)}
              </li>
            ))}
          </ul>
        </details>
      ) : null}
      <p>
        Made with Stepscope {visibleText(pack.stepscope)} on {formatTime(pack.made).slice(0, 16)}
        {pack.version ? `, version ${pack.version}` : ""}. The numbers are as they were then.
      </p>
    </footer>
  );
}

async function start(): Promise<void> {
  const app = document.getElementById("app") as HTMLElement;
  const carried = document.getElementById("report-pack");
  let pack: Pack;
  try {
    pack = await readPack(carried?.textContent ?? "", carried?.dataset.encoding ?? "json");
  } catch {
    app.textContent =
      "This file contains no report, or a damaged one. Create it again with `stepscope report RUN -o report.html`.";
    return;
  }
  carried?.remove(); // It is in memory now; twice would be too much for a phone.
  standAlone();
  setSource(packSource(pack));
  remember(pack.runs.map((row) => ({ ...row, version: 0 })));
  document.title = visibleText(pack.title);
  preparePrinting();
  deadLinks(app);
  render(<Page pack={pack} shown={settle([], pack.blocks)} />, app);
}

void start();
