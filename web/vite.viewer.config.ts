import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

const STATIC = process.env.STEPSCOPE_STATIC ?? resolve(import.meta.dirname, "../src/stepscope/server/static");
const PARTS = resolve(import.meta.dirname, "node_modules/.viewer");

/** One script and one style sheet, put into the template: a file that works alone, from anywhere, without a network. */
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
      // `</script` and `<!--` inside a script would end it or hide the rest of the page.
      const script = read(".js")
        .replace(/<\/(script)/gi, "<\\/$1")
        .replace(/<!--/g, "<\\!--");
      const template = readFileSync(resolve(import.meta.dirname, "viewer/graph-viewer.html"), "utf8");
      const page = template
        .replace("<!--STYLE-->", () => `<style>${read(".css")}</style>`)
        .replace("<!--SCRIPT-->", () => `<script id="graph-script">${script}</script>`);
      writeFileSync(join(STATIC, "graph-viewer.html"), page);
      rmSync(PARTS, { recursive: true, force: true });
    },
  };
}

// Built after the app, into the same folder, so that Python finds the template beside the pages.
export default defineConfig({
  publicDir: false,
  logLevel: "warn",
  build: {
    outDir: PARTS,
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 1 << 20,
    cssCodeSplit: false,
    lib: {
      entry: "src/graph/standalone.tsx",
      formats: ["iife"],
      name: "stepscope",
      fileName: "viewer",
      cssFileName: "viewer",
    },
  },
  plugins: [intoOneFile()],
});
