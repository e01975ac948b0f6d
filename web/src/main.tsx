import "./style/tokens.css";
import "./style/base.css";
import "./style/components.css";
import "./style/parts.css";
import "./style/shell.css";
import "./style/palette.css";
import "./style/comfort.css";
import { render } from "preact";
import { App } from "./app";
import { startLive } from "./lib/live";

render(<App />, document.getElementById("app") as HTMLElement);
startLive();
