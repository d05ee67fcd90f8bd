import type { Socket } from "node:net";
import { withoutMapping } from "../http/node-http.ts";
import type { Limits } from "../limits.ts";

/** Counts the open connections of a port, per peer address and in total. */
export function createConnectionCounter({
  limits,
  isTrustedPeer = () => false,
  onRefused = () => {},
  isLocal = false,
}: CountOptions): ConnectionCounter {
  const open = new Map<string, number>();
  const reported = new Set<string>();
  let total = 0;
  return {
    admit(socket) {
      // A peer without an address is already gone, unless no peer has one.
      const { remoteAddress = isLocal ? "" : undefined } = socket;
      if (remoteAddress === undefined) return false;
      const address = withoutMapping(remoteAddress);
      const key = countedAs(address);
      const count = open.get(key) ?? 0;
      const isOneTooMany = isOver(count, limits.connectionsPerAddressCount) && !isTrustedPeer(address);
      if (isOneTooMany || isOver(total, limits.connectionsCount)) {
        if (!reported.has(key) && count > 0) {
          reported.add(key);
          onRefused(address);
        }
        return false;
      }
      total++;
      open.set(key, count + 1);
      socket.once("close", () => {
        total--;
        const left = (open.get(key) ?? 1) - 1;
        if (left > 0) open.set(key, left);
        else {
          open.delete(key);
          reported.delete(key);
        }
      });
      return true;
    },
  };
}

/** Admits connections up to a limit. */
export interface ConnectionCounter {
  /** Counts the connection until it closes. Returns false, without counting it, when the limit is reached. */
  admit(socket: Socket): boolean;
}

/** Options of {@link createConnectionCounter}. */
export interface CountOptions {
  readonly limits: Limits;
  /** Identifies proxies, which carry many callers' connections and count only towards the total. Default: none. */
  readonly isTrustedPeer?: ((address: string) => boolean) | undefined;
  /**
   * Called at the first refused connection of an address, and again only after the address has closed all its others.
   */
  readonly onRefused?: ((address: string) => void) | undefined;
  /** Whether the port is a Unix socket, whose peers have no address and count as one. Default false. */
  readonly isLocal?: boolean | undefined;
}

/** Whether one more exceeds the limit; 0 means no limit. */
function isOver(count: number, bound: number): boolean {
  return bound > 0 && count >= bound;
}

/**
 * Returns the address, or the /64 network of an IPv6 address, because an owner of one address there usually controls
 * its whole network.
 */
export function countedAs(address: string): string {
  if (!address.includes(":")) return address;
  const [before = "", after] = address.split("%")[0]?.split("::") ?? [];
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array<string>(zeros).fill("0"), ...tail].slice(0, 4).join(":");
}
