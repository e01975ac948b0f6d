export { Button, IconButton } from "./button";
export { Dialog } from "./dialog";
export { Checkbox, Select, Slider, TextInput, Toggle } from "./fields";
export { Middle } from "./middle";
export { Menu, type MenuItem, Popover } from "./popover";
export { EmptyState, ErrorState, Skeleton } from "./states";
export { StatusDot } from "./status";
export { Tag } from "./tag";
export { copyText, toast, Toasts } from "./toast";
