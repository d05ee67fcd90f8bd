import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Http1Request } from "../http/node-http.ts";
import type { OpenReply } from "../http/send-body.ts";

/**
 * @param addressOf the address that a connection's unread replies count towards; undefined for none
 */
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
    begin(request, response, waits = false) {
      const responses = connections.get(request.socket);
      responses?.add(response);
      response.once("close", () => responses?.delete(response));
      // Without it, Node ends the connection after the reply, because the body may follow or not (RFC 9110, 10.1.1).
      if (waits) request.invite = () => inviteOnce(request, response);
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
        // An ended connection closes once its last bytes are sent.
        const hasCall = responses.size > 0 || socket.writableEnded;
        if (!hasCall && (isSilent || !onlySilent)) socket.destroy();
      }
    },
    *openReplies() {
      for (const [socket, responses] of connections) {
        for (const response of responses) {
          // A reply that waits behind another on its connection has not reached its reader yet.
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

/** The open HTTP/1.1 connections of a port, and their replies. */
export interface Http1Connections {
  /** Registers a connection before the HTTP server receives it. */
  add(socket: Socket): void;
  /**
   * Registers a call.
   * @param waits whether the caller waits for `100 (Continue)`. Default false
   */
  begin(request: Http1Request, response: ServerResponse, waits?: boolean): void;
  /** From now on, every reply asks the peer to close the connection, including replies to running calls. */
  refuseKeepAlive(): void;
  /**
   * Cuts the connections without a running call, such as those with half a request head.
   * @param onlySilent whether to spare those that have sent something since the last call
   */
  cutWithoutCall(onlySilent: boolean): void;
  openReplies(): Iterable<OpenReply>;
}

/** Closes the replies of pipelined requests that were waiting when the connection broke. Node does not notify them. */
function closeUnassigned(response: ServerResponse): void {
  response.destroy();
  response.emit("close");
}

/** Sends `100 (Continue)`, unless the reply has begun. */
function inviteOnce(request: Http1Request, response: ServerResponse): void {
  delete request.invite;
  if (!response.headersSent) response.writeContinue();
}
