/** The few drawings only the graph needs, in the style of the others. */

import type { ComponentChildren } from "preact";

function draw(children: ComponentChildren) {
  return function Icon({ size = 16 }: { size?: number }) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linecap="round"
        stroke-linejoin="round"
        aria-hidden="true"
      >
        {children}
      </svg>
    );
  };
}

export const UpIcon = draw(<path d="M8 9.5V2.8m0 0L5 5.8m3-3 3 3M5.5 13.2a2.5 2.5 0 1 1 5 0" />);
export const DownIcon = draw(<path d="M8 6.5v6.7m0 0 3-3m-3 3-3-3M5.5 2.8a2.5 2.5 0 1 0 5 0" />);
export const UpDownIcon = draw(
  <path d="M8 2.2v3.6m0-3.6L5.8 4.4M8 2.2l2.2 2.2M8 10.2v3.6m0 0 2.2-2.2M8 13.8l-2.2-2.2M6.5 8h3" />,
);
export const FitIcon = draw(<path d="M2.5 5.5v-3h3m5 0h3v3m0 5v3h-3m-5 0h-3v-3M6 6h4v4H6z" />);
export const WeightsIcon = draw(
  <>
    <rect x="2.5" y="6" width="11" height="7" rx="1.5" />
    <path d="M5.5 6V3.5M8 6V2.5M10.5 6V3.5" />
  </>,
);
