import type { Socket } from "node:net";
import type { Limits } from "./limits.ts";
import { withoutMapping } from "./peer-address.ts";

/** Takes connections as long as there are not too many. */
export interface ConnectionCounter {
  /** Counts the connection until it closes; false where it is one too many, and is not counted. */
  admit(socket: Socket): boolean;
}

/** Which connections are counted, and who hears of those that are refused. */
export interface CountOptions {
  readonly limits: Pick<Limits, "connectionsCount" | "connectionsPerAddressCount">;
  /** Proxies, which carry the connections of many; they count towards the whole only. Default: none. */
  readonly isTrustedPeer?: ((address: string) => boolean) | undefined;
  /** Hears of an address at its first refused connection; again only once it has closed all of its others. */
  readonly onRefused?: ((address: string) => void) | undefined;
}

/** Counts the open connections of a port, of each address and in all, by the peer of the socket. */
export function createConnectionCounter({
  limits,
  isTrustedPeer = () => false,
  onRefused = () => {},
}: CountOptions): ConnectionCounter {
  const open = new Map<string, number>();
  const reported = new Set<string>();
  let total = 0;
  return {
    admit(socket) {
      // The peer is gone already.
      if (socket.remoteAddress === undefined) return false;
      const address = withoutMapping(socket.remoteAddress);
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

/** Whether a further one is too many; 0 stands for no bound. */
function isOver(count: number, bound: number): boolean {
  return bound > 0 && count >= bound;
}

/** The address; of IPv6 the network of 64 bits, because who has one address there has all of its network. */
export function countedAs(address: string): string {
  if (!address.includes(":")) return address;
  const [before = "", after] = address.split("%")[0]?.split("::") ?? [];
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array<string>(zeros).fill("0"), ...tail].slice(0, 4).join(":");
}
