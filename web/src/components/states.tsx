import type { ComponentChildren } from "preact";
import { ApiError } from "../lib/api";
import { Button } from "./button";
import { WarningIcon } from "./icons";

export interface EmptyStateProps {
  title: string;
  icon?: typeof WarningIcon;
  children?: ComponentChildren;
}

export function EmptyState({ title, icon: Icon, children }: EmptyStateProps) {
  return (
    <div class="state">
      {Icon ? (
        <div class="state-icon">
          <Icon size={24} />
        </div>
      ) : null}
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export interface ErrorStateProps {
  error: unknown;
  title?: string;
  onRetry?: () => void;
  /** Another way on, where trying again will hardly help. */
  children?: ComponentChildren;
}

/** What went wrong, in the server's words, what to do, and a way to try again. */
export function ErrorState({ error, title, onRetry, children }: ErrorStateProps) {
  const known = error instanceof ApiError ? error : null;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div class="state state-error" role="alert">
      <div class="state-icon">
        <WarningIcon size={24} />
      </div>
      <h2>{title ?? headline(known)}</h2>
      <p class="state-message">{message}</p>
      {known?.hint ? <p>{known.hint}</p> : null}
      {known?.id ? (
        <p class="state-detail">
          The server's log has the details under <code>{known.id}</code>.
        </p>
      ) : null}
      {onRetry ? <Button onClick={onRetry}>Try again</Button> : null}
      {children}
    </div>
  );
}

function headline(error: ApiError | null): string {
  if (!error) return "Something went wrong on this page";
  if (error.offline) return "The server is not answering";
  if (error.status === 401 || error.status === 403) return "No access";
  if (error.status === 404) return "Not found";
  return error.status >= 500 ? "The server failed" : "The server refused this";
}

/** Grey bars where content will be. */
export function Skeleton({ width = "100%", height = 12 }: { width?: string | number; height?: number }) {
  return <span class="skeleton" style={{ width, height }} aria-hidden="true" />;
}
