import { timingSafeEqual, type X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { Log } from "../../service/platform/telemetry/logger.ts";
import type { Secret } from "../../service/platform/telemetry/secret.ts";
import { SignerError } from "../signer-error.ts";
import { isOfAnotherUser } from "../store/private-file.ts";
import { type CallerRules, digestOf, parseAccessList } from "./access-list.ts";
import { type Caller, type CallerCounts, createCaller, EVERYONE } from "./caller.ts";
import { certificateNames } from "./certificate-names.ts";
import { createSlidingBound } from "./sliding-bound.ts";

/** Recognizes the callers of a signer. */
export interface Callers {
  /** Throws SignerError MISSING_TOKEN, INVALID_TOKEN or UNKNOWN_CALLER. */
  identify(call: ArrivingCall): Caller;
  /** The names of all callers. */
  names(): readonly string[];
}

/** What a call shows of its caller. */
export interface ArrivingCall {
  readonly headers: Headers;
  /** The certificate of the connection, which the configured authority has signed. Undefined for none. */
  readonly certificate: X509Certificate | undefined;
  /** True if the call came on the Unix socket, which only the signer's own user can open. */
  readonly isOnSocket: boolean;
}

/**
 * Recognizes one caller: everyone on the socket, and whoever sends the token on the port.
 *
 * @param token undefined if there is no port
 */
export function anyoneWith(token: Secret | undefined): Callers {
  const digest = token && digestOf(token.reveal());
  return {
    identify({ headers, isOnSocket }) {
      if (isOnSocket) return EVERYONE;
      const sent = tokenOf(headers);
      if (sent === undefined) throw missingToken();
      if (digest === undefined || !isSame(digestOf(sent), digest)) throw invalidToken();
      return EVERYONE;
    },
    names: () => [EVERYONE.name],
  };
}

/** The callers of a file, which can be read again. */
export interface ListedCallers extends Callers {
  /** Reads the file again. A broken file changes nothing, and the log says what is wrong. */
  reload(): void;
}

/** Reads the file of callers. Throws an Error that says what is wrong with it. */
export function openCallers(
  file: string,
  log: Log,
  { hasCertificates, now = Date.now }: CallersOptions,
): ListedCallers {
  const counts = new Map<string, CallerCounts>();
  let [rules, callers] = [readList(file, hasCertificates), new Map<string, Caller>()];
  let fault = "";

  function use(list: readonly CallerRules[]): void {
    rules = list;
    callers = new Map(
      list.map((each) => {
        // A caller that leaves the file and returns does not begin to count again.
        const own = counts.get(each.name) ?? {
          minute: createSlidingBound(60_000, now),
          day: createSlidingBound(86_400_000, now),
        };
        counts.set(each.name, own);
        return [each.name, createCaller(each, own, log)];
      }),
    );
  }

  /** A connection may outlive the certificate with which it began, and TLS may resume it. */
  function namesNow(certificate: X509Certificate | undefined): readonly string[] {
    if (certificate === undefined) return [];
    if (now() > Date.parse(certificate.validTo))
      throw new SignerError("UNKNOWN_CALLER", "the certificate of the connection has ended");
    return certificateNames(certificate);
  }

  use(rules);
  return {
    identify(call) {
      const sent = tokenOf(call.headers);
      const digest = sent === undefined ? undefined : digestOf(sent);
      const names = namesNow(call.certificate);
      const found = rules.filter((each) => isCaller(each, digest, names, call.isOnSocket));
      const [only] = found;
      if (only !== undefined && found.length === 1) return callers.get(only.name)!;
      const isToken = digest !== undefined && rules.some((each) => hasToken(each, digest));
      if (sent !== undefined && !isToken) throw invalidToken();
      if (sent === undefined && call.certificate === undefined) throw missingToken();
      throw new SignerError("UNKNOWN_CALLER", "the certificate and the token are not those of one caller");
    },
    names: () => [...callers.keys()],
    reload() {
      try {
        const list = readList(file, hasCertificates);
        fault = "";
        if (JSON.stringify(plain(list)) === JSON.stringify(plain(rules))) return;
        use(list);
        log.info({ audit: "callers", callers: [...callers.keys()] }, "the file of callers is read again");
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (message === fault) return;
        fault = message;
        log.error({ file, fault }, "the file of callers is broken, and the callers stay as they are");
      }
    },
  };
}

/** Options of {@link openCallers}. */
interface CallersOptions {
  /** True if the port asks for certificates. Otherwise no caller of the file may need one. */
  readonly hasCertificates: boolean;
  /** The time in milliseconds. Default: that of the system. */
  readonly now?: () => number;
}

/** Each credential that the file has for a caller must be there, and a token is never ignored. */
function isCaller(
  rules: CallerRules,
  digest: string | undefined,
  names: readonly string[],
  isOnSocket: boolean,
): boolean {
  const { tokenDigests, certificate } = rules;
  if (digest === undefined ? tokenDigests.length > 0 : !hasToken(rules, digest)) return false;
  if (certificate !== undefined && !names.includes(certificate)) return false;
  return !rules.isOnSocket || isOnSocket;
}

function hasToken({ tokenDigests }: CallerRules, digest: string): boolean {
  return tokenDigests.some((each) => isSame(each, digest));
}

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function tokenOf(headers: Headers): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

function missingToken(): SignerError {
  return new SignerError("MISSING_TOKEN", "no token was sent: send `authorization: Bearer <token>`");
}

function invalidToken(): SignerError {
  return new SignerError("INVALID_TOKEN", "the token is wrong");
}

const MAX_FILE_BYTES = 262_144;
/** The permissions with which another user could let itself in. */
const WRITE_OF_OTHERS = 0o022;

function readList(file: string, hasCertificates: boolean): readonly CallerRules[] {
  const { mode, size, uid } = statSync(file);
  if (isOfAnotherUser(uid))
    throw new Error(
      `the file of callers, ${file}, is another user's: only root or the signer's own user may own it`,
    );
  if ((mode & WRITE_OF_OTHERS) !== 0)
    throw new Error(`others may write the file of callers, ${file}: prevent it with chmod go-w`);
  if (size > MAX_FILE_BYTES)
    throw new Error(`the file of callers, ${file}, has more than ${MAX_FILE_BYTES} bytes`);
  try {
    const list = parseAccessList(readFileSync(file, "utf8"), path.dirname(path.resolve(file)));
    const stranded = list.find(({ certificate }) => certificate !== undefined && !hasCertificates);
    if (stranded !== undefined)
      throw new Error(
        `the caller ${stranded.name} needs a certificate, and no port has SIGNER_TLS_CLIENT_CA_FILE`,
      );
    return list;
  } catch (cause) {
    throw new Error(
      `the file of callers, ${file}: ${cause instanceof Error ? cause.message : "unreadable"}`,
      {
        cause,
      },
    );
  }
}

/** The rules as data that can be compared. */
function plain(list: readonly CallerRules[]): unknown {
  return list.map(({ curves, payloads, ...rest }) => ({
    ...rest,
    curves: curves && [...curves],
    payloads: payloads && [...payloads],
  }));
}
