/** The parts of a comparison that stand elsewhere too: in reports. */

import "../../style/compare.css";
import "../../style/compare-changed.css";
import "../../style/compare-tables.css";

export { WhatChanged } from "./changed";
export { ConfigDiff } from "./facts";
export { MetricTable } from "./metric-table";
