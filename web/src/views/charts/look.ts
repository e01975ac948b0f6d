/** The styles of charts, for whoever draws some. */

import "../../style/charts.css";
import "../../style/charts-media.css";
import "../../style/charts-panels.css";
import "../../style/charts-text.css";
import "../../style/workspace.css";
