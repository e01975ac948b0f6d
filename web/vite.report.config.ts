import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

const STATIC = process.env.STEPSCOPE_STATIC ?? resolve(import.meta.dirname, "../src/stepscope/server/static");
const PARTS = resolve(import.meta.dirname, "node_modules/.report-viewer");

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** One script and one style sheet, put into the template, which names their hashes: nothing else in the file can run. */
function intoOneFile(): Plugin {
  return {
    name: "into-one-file",
    writeBundle(options, bundle) {
      const folder = options.dir as string;
      const read = (ending: string): string =>
        Object.keys(bundle)
          .filter((name) => name.endsWith(ending))
          .map((name) => readFileSync(join(folder, name), "utf8"))
          .join("\n");
      const scripts = Object.keys(bundle).filter((name) => name.endsWith(".js"));
      if (scripts.length !== 1) throw new Error(`a report is one file, but its script came as ${scripts.join(", ")}`);
      // `</script` and `<!--` inside a script would end it or hide the rest of the page.
      const script = read(".js")
        .replace(/<\/(script)/gi, "<\\/$1")
        .replace(/<!--/g, "<\\!--");
      const style = read(".css");
      const template = readFileSync(resolve(import.meta.dirname, "viewer/report-viewer.html"), "utf8");
      const page = template
        .replace("<!--SCRIPT-HASH-->", () => hashOf(script))
        .replace("<!--STYLE-HASH-->", () => hashOf(style))
        .replace("<!--STYLE-->", () => `<style>${style}</style>`)
        .replace("<!--SCRIPT-->", () => `<script>${script}</script>`);
      writeFileSync(join(STATIC, "report-viewer.html"), page);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// Built after the app, into the same folder, so that Python finds the template beside the pages.
export default defineConfig({
  publicDir: false,
  logLevel: "warn",
  resolve: {
    alias: [
      { find: /^\.\/graph-worker$/, replacement: resolve(import.meta.dirname, "src/report/no-worker.ts") },
      // A megabyte of script in every report would be too much for one kind of panel.
      { find: /^\.\/parts\/vega-figure$/, replacement: resolve(import.meta.dirname, "src/report/no-vega.tsx") },
    ],
  },
  build: {
    outDir: process.env.STEPSCOPE_STATIC ? `${PARTS}-${process.pid}` : PARTS,
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 1 << 20,
    cssCodeSplit: false,
    rollupOptions: { output: { codeSplitting: false } },
    lib: {
      entry: "src/report/standalone.tsx",
      formats: ["iife"],
      name: "stepscope",
      fileName: "report",
      cssFileName: "report",
    },
  },
  plugins: [intoOneFile()],
});
