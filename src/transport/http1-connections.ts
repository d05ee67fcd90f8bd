import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { OpenReply } from "./slow-readers.ts";

/** The open HTTP/1.1 connections of a port, and the replies on each. */
export interface Http1Connections {
  /** Takes note of a connection, before the HTTP server has it. */
  add(socket: Socket): void;
  /** Takes note of a call. */
  begin(request: IncomingMessage, response: ServerResponse): void;
  /** From now on every reply asks for its connection to be closed, those under way included. */
  refuseKeepAlive(): void;
  /**
   * Cuts the connections that have no call under way, such as those with half the head of a request.
   * @param onlySilent whether those that have sent something since the last time are left
   */
  cutWithoutCall(onlySilent: boolean): void;
  openReplies(): Iterable<OpenReply>;
}

/** @param addressOf what unread replies of a connection count for; undefined for none */
export function createHttp1Connections(addressOf: (socket: Socket) => string | undefined): Http1Connections {
  const connections = new Map<Socket, Set<ServerResponse>>();
  const heardBytes = new WeakMap<Socket, number>();
  let keepsAlive = true;
  return {
    add(socket) {
      const responses = new Set<ServerResponse>();
      connections.set(socket, responses);
      socket.once("close", () => {
        connections.delete(socket);
        for (const response of responses) if (response.socket === null) closeUnassigned(response);
      });
    },
    begin(request, response) {
      const responses = connections.get(request.socket);
      responses?.add(response);
      response.once("close", () => responses?.delete(response));
      if (!keepsAlive) response.shouldKeepAlive = false;
    },
    refuseKeepAlive() {
      keepsAlive = false;
      for (const responses of connections.values()) {
        for (const response of responses) if (!response.headersSent) response.shouldKeepAlive = false;
      }
    },
    cutWithoutCall(onlySilent) {
      for (const [socket, responses] of connections) {
        const isSilent = heardBytes.get(socket) === socket.bytesRead;
        heardBytes.set(socket, socket.bytesRead);
        // One that is ended closes once its last octets are sent.
        const hasCall = responses.size > 0 || socket.writableEnded;
        if (!hasCall && (isSilent || !onlySilent)) socket.destroy();
      }
    },
    *openReplies() {
      for (const [socket, responses] of connections) {
        for (const response of responses) {
          // One that waits behind another of its connection is not at its reader yet.
          if (response.socket === null) continue;
          yield {
            key: response,
            isEnded: response.writableEnded,
            unsentBytes: response.writableLength,
            address: addressOf(socket),
            cut: () => socket.destroy(),
          };
        }
      }
    },
  };
}

/** Node says nothing to the replies of pipelined requests that were waiting for their turn when the connection broke. */
function closeUnassigned(response: ServerResponse): void {
  response.destroy();
  response.emit("close");
}
