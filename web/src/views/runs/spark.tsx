import { memo } from "preact/compat";
import { sparkOf } from "../../lib/spark";
import { lookOfRun } from "../../state";

const WIDTH = 88;
const HEIGHT = 20;

/** The run's loss as a tiny line in the run's colour; a red dot where it stopped being finite. */
export const SparkLine = memo(function SparkLine({ id, values }: { id: string; values: readonly (number | null)[] }) {
  const { path, broken, end } = sparkOf(values, WIDTH, HEIGHT, 3);
  if (path === "") return null;
  const colour = lookOfRun(id).colour;
  return (
    <svg
      class="spark"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={broken ? "loss, not finite in places" : "loss over the run"}
    >
      <path d={path} fill="none" stroke={colour} stroke-width="1.4" stroke-linejoin="round" stroke-linecap="round" />
      {broken ? (
        <circle cx={broken.x} cy={broken.y} r="2.4" class="spark-broken" />
      ) : end ? (
        <circle cx={end.x} cy={end.y} r="1.6" fill={colour} />
      ) : null}
    </svg>
  );
});
