/** Line drawings that only the media need, in the manner of `components/icons`. */

import type { ComponentChildren } from "preact";

function draw(children: ComponentChildren, filled = false) {
  return function Icon({ size = 16 }: { size?: number }) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 16 16"
        fill={filled ? "currentColor" : "none"}
        stroke={filled ? "none" : "currentColor"}
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

export const ImageIcon = draw(
  <>
    <rect x="2" y="2.5" width="12" height="11" rx="1.5" />
    <path d="m2.5 11.5 3.4-3.6 2.6 2.6 2-2 3 3M10.8 6v.01" />
  </>,
);
export const PlayIcon = draw(
  <path d="M4.5 2.8v10.4c0 .5.5.8 1 .5l8-5.2a.6.6 0 0 0 0-1l-8-5.2c-.5-.3-1 0-1 .5Z" />,
  true,
);
export const PauseIcon = draw(<path d="M4 3h2.6v10H4zM9.4 3H12v10H9.4z" />, true);
export const GridIcon = draw(
  <path d="M2.5 2.5h4.2v4.2H2.5zM9.3 2.5h4.2v4.2H9.3zM2.5 9.3h4.2v4.2H2.5zM9.3 9.3h4.2v4.2H9.3z" />,
);
export const FlowIcon = draw(<path d="M2.5 3h5v4h-5zM9.5 3h4v4h-4zM2.5 9h3v4h-3zM7.5 9h6v4h-6z" />);
export const ContrastIcon = draw(
  <>
    <circle cx="8" cy="8" r="5.6" />
    <path d="M8 2.4a5.6 5.6 0 0 1 0 11.2Z" fill="currentColor" stroke="none" />
  </>,
);
export const FirstIcon = draw(<path d="M4 3.5v9M12 4 7 8l5 4" />);
export const LastIcon = draw(<path d="M12 3.5v9M4 4l5 4-5 4" />);
