import { answerLayouts } from "./layout-worker";

answerLayouts(self as unknown as Worker);
