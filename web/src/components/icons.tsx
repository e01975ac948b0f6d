/** Our own line drawings on a 16-pixel grid. They take the colour of the text around them. */

import type { ComponentChildren, JSX } from "preact";

type IconProps = Omit<JSX.SVGAttributes<SVGSVGElement>, "icon"> & { size?: number };

function draw(children: ComponentChildren) {
  return function Icon({ size = 16, ...rest }: IconProps) {
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
        {...rest}
      >
        {children}
      </svg>
    );
  };
}

export const LogoIcon = draw(
  <>
    <path d="M1.5 12.5h3.2V9.3h3.2V6.1h3.2V3h3.4" stroke-width="1.8" />
    <circle cx="7.9" cy="9.3" r="1.7" fill="var(--accent)" stroke="none" />
  </>,
);
export const SearchIcon = draw(<path d="M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14" />);
export const CloseIcon = draw(<path d="m4 4 8 8m0-8-8 8" />);
export const CheckIcon = draw(<path d="m3.5 8.5 3 3 6-7" />);
export const ChevronDownIcon = draw(<path d="m4.5 6.5 3.5 3.5 3.5-3.5" />);
export const ChevronUpIcon = draw(<path d="m4.5 9.5 3.5-3.5 3.5 3.5" />);
export const ChevronRightIcon = draw(<path d="m6.5 4.5 3.5 3.5-3.5 3.5" />);
export const ChevronLeftIcon = draw(<path d="M9.5 4.5 6 8l3.5 3.5" />);
export const ArrowUpIcon = draw(<path d="M8 13V3m0 0L4 7m4-4 4 4" />);
export const ArrowDownIcon = draw(<path d="M8 3v10m0 0 4-4m-4 4L4 9" />);
export const PlusIcon = draw(<path d="M8 3v10M3 8h10" />);
export const MinusIcon = draw(<path d="M3 8h10" />);
export const EyeIcon = draw(
  <>
    <path d="M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8Z" />
    <circle cx="8" cy="8" r="1.8" />
  </>,
);
export const EyeOffIcon = draw(
  <>
    <path d="M3.2 5.2C2 6.4 1.5 8 1.5 8S4 12.5 8 12.5c.8 0 1.6-.2 2.2-.5M6.5 3.7c.5-.1 1-.2 1.5-.2 4 0 6.5 4.5 6.5 4.5s-.5 1-1.5 2.1" />
    <path d="m2.5 2.5 11 11" />
  </>,
);
export const SunIcon = draw(
  <>
    <circle cx="8" cy="8" r="2.8" />
    <path d="M8 1.5v1.2m0 10.6v1.2M1.5 8h1.2m10.6 0h1.2M3.4 3.4l.9.9m7.4 7.4.9.9m0-9.2-.9.9m-7.4 7.4-.9.9" />
  </>,
);
export const MoonIcon = draw(<path d="M13.2 9.7A5.7 5.7 0 0 1 6.3 2.8a5.7 5.7 0 1 0 6.9 6.9Z" />);
export const SystemIcon = draw(
  <>
    <rect x="2" y="3" width="12" height="8" rx="1.2" />
    <path d="M6 13.5h4" />
  </>,
);
export const HelpIcon = draw(
  <>
    <circle cx="8" cy="8" r="6.2" />
    <path d="M6.3 6.2c.2-1 .9-1.5 1.8-1.5 1 0 1.8.7 1.8 1.6 0 1.3-1.8 1.4-1.8 2.7m0 2.2v.1" />
  </>,
);
export const ColumnsIcon = draw(
  <>
    <rect x="2" y="3" width="12" height="10" rx="1.2" />
    <path d="M6 3v10m4-10v10" />
  </>,
);
export const GroupIcon = draw(<path d="M2 4h12M4.5 8H14M4.5 12H14M2 8v4" />);
export const PaletteIcon = draw(
  <>
    <path d="M8 2a6 6 0 1 0 0 12c1.4 0 1.6-1 1.1-1.8-.6-1 .1-1.9 1.2-1.9H12a2 2 0 0 0 2-2C14 4.7 11.3 2 8 2Z" />
    <path d="M5 7.5h.01M7.5 5h.01M10.5 6h.01" />
  </>,
);
export const TagIcon = draw(
  <>
    <path d="M2.5 3.5v4l6 6 5-5-6-6h-4a1 1 0 0 0-1 1Z" />
    <circle cx="5.4" cy="5.6" r=".6" />
  </>,
);
export const ChartIcon = draw(<path d="M2 13.5h12M2 10.5l3.5-4 3 2.5L14 3.5" />);
export const TableIcon = draw(
  <>
    <rect x="2" y="3" width="12" height="10" rx="1.2" />
    <path d="M2 6.4h12M6 6.4V13" />
  </>,
);
export const CopyIcon = draw(
  <>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1.2" />
    <path d="M3.5 10.5h-.3a.7.7 0 0 1-.7-.7V3.2c0-.4.3-.7.7-.7h6.6c.4 0 .7.3.7.7v.3" />
  </>,
);
export const DownloadIcon = draw(<path d="M8 2.5v7m0 0L5 6.6m3 2.9 3-2.9M2.5 13.5h11" />);
export const PencilIcon = draw(
  <path d="m3 13 .6-2.6L10.7 3.3a1.1 1.1 0 0 1 1.5 0l.5.5a1.1 1.1 0 0 1 0 1.5L5.6 12.4 3 13Z" />,
);
export const WarningIcon = draw(<path d="M8 2.5 14.2 13H1.8L8 2.5Zm0 4v3m0 1.9v.1" />);
export const SettingsIcon = draw(<path d="M2 4.5h7m3 0h2M2 11.5h2m3 0h7M9 2.8v3.4M4.2 9.8v3.4" />);
export const DragIcon = draw(<path d="M6 4v.01M10 4v.01M6 8v.01M10 8v.01M6 12v.01M10 12v.01" stroke-width="1.8" />);
export const PinIcon = draw(<path d="M6 2.5h4l-.5 4 2 2.5h-7l2-2.5-.5-4ZM8 9v4.5" />);
export const ExpandIcon = draw(<path d="M9.5 2.5h4v4m0-4-4.5 4.5m-2.5 6.5h-4v-4m0 4L7 9" />);
export const ResetIcon = draw(<path d="M3 8a5 5 0 1 0 1.6-3.7L3 5.8M3 2.8v3h3" />);
export const MoreIcon = draw(<path d="M3.5 8v.01M8 8v.01M12.5 8v.01" stroke-width="2" />);
export const LinkIcon = draw(
  <path d="M6.5 9.5l3-3M7 4.5l1.2-1.2a2.6 2.6 0 0 1 3.7 0l.8.8a2.6 2.6 0 0 1 0 3.7L11.5 9M9 11.5l-1.2 1.2a2.6 2.6 0 0 1-3.7 0l-.8-.8a2.6 2.6 0 0 1 0-3.7L4.5 7" />,
);
export const FolderIcon = draw(
  <path d="M2 12V4.2c0-.4.3-.7.7-.7h3.1l1.4 1.7h6.1c.4 0 .7.3.7.7V12c0 .4-.3.7-.7.7H2.7A.7.7 0 0 1 2 12Z" />,
);
export const ShareIcon = draw(
  <path d="M8 9.5v-7m0 0L5.2 5.3M8 2.5l2.8 2.8M3.5 8.5v4.3c0 .4.3.7.7.7h7.6c.4 0 .7-.3.7-.7V8.5" />,
);
export const ReportIcon = draw(
  <path d="M4 1.8h5.2L12.5 5v8.5c0 .4-.3.7-.7.7H4c-.4 0-.7-.3-.7-.7v-11c0-.4.3-.7.7-.7Zm5 .2v3.3h3.3M5.6 11.6V9.8m2.4 1.8V7.9m2.4 3.7V9" />,
);
export const HistoryIcon = draw(<path d="M3 8a5 5 0 1 0 1.6-3.7L3 5.8M3 2.8v3h3M8 5.2V8l2 1.3" />);
export const TrashIcon = draw(
  <path d="M3 4.5h10M6.2 4.3V3c0-.3.2-.5.5-.5h2.6c.3 0 .5.2.5.5v1.3M4.4 4.7l.5 8.1c0 .4.4.7.8.7h4.6c.4 0 .8-.3.8-.7l.5-8.1" />,
);
export const BellIcon = draw(
  <path d="M8 2a4 4 0 0 0-4 4v2.6L2.8 11h10.4L12 8.6V6a4 4 0 0 0-4-4ZM6.6 13.2c.3.5.8.8 1.4.8s1.1-.3 1.4-.8" />,
);
export const BellOffIcon = draw(
  <path d="M5.1 3.3A4 4 0 0 1 12 6v2.6l.5 1M4 6.5v2.1L2.8 11h7.6M6.6 13.2c.3.5.8.8 1.4.8s1.1-.3 1.4-.8M2.5 2.5l11 11" />,
);
export const BookmarkIcon = draw(<path d="M4.2 2.5h7.6v11L8 10.6l-3.8 2.9v-11Z" />);
export const ArchiveIcon = draw(<path d="M2.5 3h11v3h-11V3Zm.9 3v6.4c0 .3.3.6.6.6h8c.3 0 .6-.3.6-.6V6M6.3 8.5h3.4" />);
export const MenuIcon = draw(<path d="M2.5 4.5h11M2.5 8h11m-11 3.5h11" />);
export const TerminalIcon = draw(<path d="M2.5 3h11v10h-11V3Zm2.3 2.7L7 7.8 4.8 10M8.5 10.3h2.8" />);
export const BoxIcon = draw(<path d="M8 2 2.8 4.6v6.8L8 14l5.2-2.6V4.6L8 2Zm0 0M2.8 4.6 8 7.2l5.2-2.6M8 7.2V14" />);
export const PrinterIcon = draw(
  <path d="M4.5 6V2.5h7V6M4.5 11.5H3.2c-.4 0-.7-.3-.7-.7V6.7c0-.4.3-.7.7-.7h9.6c.4 0 .7.3.7.7v4.1c0 .4-.3.7-.7.7h-1.3m-7-2h7v4h-7v-4Z" />,
);
export const FileIcon = draw(
  <path d="M4 2.2h5l3 3v8.1c0 .3-.2.5-.5.5H4a.5.5 0 0 1-.5-.5V2.7c0-.3.2-.5.5-.5ZM9 2.2v3h3" />,
);
