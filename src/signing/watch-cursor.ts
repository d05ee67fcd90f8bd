import { invalidField } from "../errors/service-error.ts";
import { openToken, sealToken } from "../paging/read-page.ts";
import { SIGN_STATUSES, type SignRevision } from "./shown-sign-request.ts";

const CURSOR = /^([a-z]+)\.(\d{1,15})$/;

/** Returns a cursor for the state up to which a caller has watched a request. */
export function sealCursor(signRequestId: string, { status, updatedAt }: SignRevision): string {
  return sealToken(scopeOf(signRequestId), `${status}.${updatedAt.getTime()}`);
}

/**
 * Returns the state that a cursor stands for, or undefined for an empty cursor. Throws VALIDATION for a cursor of
 * another request.
 */
export function openCursor(signRequestId: string, cursor: string): SignRevision | undefined {
  if (cursor === "") return undefined;
  const [, name, updatedAtMs] = CURSOR.exec(openToken(scopeOf(signRequestId), cursor) ?? "") ?? [];
  const status = SIGN_STATUSES.find((one) => one === name);
  if (status === undefined) throw invalidField("cursor", "does not belong to this sign request");
  return { status, updatedAt: new Date(Number(updatedAtMs)) };
}

const scopeOf = (signRequestId: string): readonly string[] => ["watch", signRequestId];
