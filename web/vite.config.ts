import { defineConfig } from "vite";
import { withTheFirstPage } from "./vite.chunks";
import { figureFrame } from "./vite.figure";

// The built app lies inside the Python package, so a wheel carries it and its users never need Node.
export default defineConfig({
  base: "./",
  build: {
    outDir: process.env.STEPSCOPE_STATIC ?? "../src/stepscope/server/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    rolldownOptions: { output: { codeSplitting: { groups: [withTheFirstPage()] } } },
  },
  plugins: [figureFrame()],
  server: {
    // `stepscope ui --port 6060` beside `npm run dev`; the token cookie travels through the proxy.
    proxy: { "/api": { target: "http://127.0.0.1:6060", changeOrigin: true } },
  },
});
