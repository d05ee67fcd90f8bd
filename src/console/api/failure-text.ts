import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../../gen/client/google/rpc/error_details_pb.ts";

/** Describes the failure of a call for a person. */
export function failureText(cause: unknown): FailureText {
  const error = ConnectError.from(cause);
  const [info] = error.findDetails(ErrorInfoSchema);
  const requestId = error.metadata.get("x-request-id") ?? undefined;
  const reason = info?.reason ?? Code[error.code];
  const isKeyRefused = error.code === Code.Unauthenticated;
  if (info === undefined && UNREACHABLE.includes(error.code)) {
    return {
      title: "The service does not answer",
      reason,
      requestId,
      isKeyRefused,
      isSilent: true,
      message: "Check that the service runs and that this browser reaches it.",
    };
  }
  const message = `${error.rawMessage.slice(0, 1).toUpperCase()}${error.rawMessage.slice(1, MAX_LENGTH)}`;
  return {
    reason,
    requestId,
    isKeyRefused,
    isSilent: false,
    message,
    title: TITLES[error.code] ?? "The call failed",
  };
}

/** The parts of an error that a page shows. */
export interface FailureText {
  readonly title: string;
  readonly message: string;
  /** The service's reason, or the name of the status code. */
  readonly reason: string;
  readonly requestId: string | undefined;
  /** True if the service refuses the key. */
  readonly isKeyRefused: boolean;
  /** True if nothing answered, or only a proxy: another try may succeed. */
  readonly isSilent: boolean;
}

/** Returns true if a read failed because its id is unknown, or is none at all. */
export function isUnknown(failure: FailureText | undefined, reason: string): boolean {
  return failure?.reason === reason || failure?.reason === "VALIDATION";
}

const MAX_LENGTH = 500;
/** The codes of a failed fetch, and of a proxy that does not reach the service. */
const UNREACHABLE: readonly Code[] = [Code.Unknown, Code.Unavailable, Code.DeadlineExceeded, Code.Internal];
const TITLES: Readonly<Partial<Record<Code, string>>> = {
  [Code.Unauthenticated]: "The service does not accept this key",
  [Code.PermissionDenied]: "This key may not do this",
  [Code.InvalidArgument]: "The input is not valid",
  [Code.NotFound]: "Not found",
  [Code.ResourceExhausted]: "Too many calls",
  [Code.FailedPrecondition]: "This is not possible now",
  [Code.Unavailable]: "The service is not available now",
};
