import type { ComponentChildren, JSX } from "preact";
import type { LiveCall } from "../api/use-call.ts";
import { FailureNotice } from "./failure-notice.tsx";

/** Shows a call's data; a skeleton before the first ones; and a failure with a retry, beside the data if there are any. */
export function Loaded<Data>({ call, lines = 4, children }: LoadedProps<Data>): JSX.Element {
  const { data, failure, isLoading, reload } = call;
  return (
    <>
      {failure !== undefined && <FailureNotice failure={failure} isLoading={isLoading} onRetry={reload} />}
      {data !== undefined ? children(data) : isLoading && failure === undefined && <Skeleton lines={lines} />}
    </>
  );
}

interface LoadedProps<Data> {
  readonly call: LiveCall<Data>;
  /** The height of the skeleton. */
  readonly lines?: number;
  children(data: Data): ComponentChildren;
}

/** Stands where data will be. */
function Skeleton({ lines }: { readonly lines: number }): JSX.Element {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="skeleton-line" />
      ))}
    </div>
  );
}
