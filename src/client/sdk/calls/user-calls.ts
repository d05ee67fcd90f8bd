import type { Transport } from "@connectrpc/connect";
import { type User, Users } from "../../../../gen/client/tss/v1/users_pb.ts";
import {
  createServiceCalls,
  type ListArgs,
  type RequestOptions,
  type ServiceCaller,
} from "./service-calls.ts";

/** Creates the calls about users over a transport that adds the caller's headers. */
export function createUserCalls(transport: Transport, caller?: ServiceCaller): UserCalls {
  const users = createServiceCalls(Users, transport, caller);
  return {
    create: users.createUser,
    get: users.getUser,
    list: users.listUsers,
    freeze: users.freezeUser,
    unfreeze: users.unfreezeUser,
    delete: async (args, options) => void (await users.deleteUser(args, options)),
  };
}

/**
 * The calls about the users of a project. Changes need a key with the scope `sessions`, which is for the project's
 * backend. A user is named by the project's own id of them: 1 to 128 printable ASCII characters.
 */
export interface UserCalls {
  /**
   * Makes a user, or returns the existing one. A call that names a new reference, such as `onboard`, makes the user too.
   *
   * @throws {TssError} USER_DELETED when a deleted user had the reference.
   * @throws {TssError} TOO_MANY_USERS when the project may have no further user.
   *
   * @example
   * await client.users.create({ reference: "user-42" });
   */
  create(args: UserArgs, options?: RequestOptions): Promise<User>;
  /**
   * Reads a user.
   *
   * @throws {TssError} USER_NOT_FOUND when the project has no such user.
   *
   * @example
   * const { freezeTime } = await client.users.get({ reference: "user-42" });
   */
  get(args: UserArgs, options?: RequestOptions): Promise<User>;
  /**
   * Lists the users, in the order of the references: all, those whose reference begins with a prefix, or only those that
   * are frozen or not.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   *
   * @example
   * for await (const { reference } of client.users.list({ frozen: true })) console.log(reference);
   */
  list(args?: ListUsersArgs, options?: RequestOptions): AsyncIterable<User>;
  /**
   * Stops everything of a user: when the call returns, nothing more is registered, made, accepted or signed for the user.
   * Requests that were submitted before complete, and the owner can still take a dWallet out of the service.
   *
   * @throws {TssError} USER_NOT_FOUND when the project has no such user.
   *
   * @example
   * await client.users.freeze({ reference: "user-42" });
   */
  freeze(args: UserArgs, options?: RequestOptions): Promise<User>;
  /**
   * Lets a frozen user continue.
   *
   * @throws {TssError} USER_NOT_FOUND when the project has no such user.
   *
   * @example
   * await client.users.unfreeze({ reference: "user-42" });
   */
  unfreeze(args: UserArgs, options?: RequestOptions): Promise<User>;
  /**
   * Deletes a user for good. The reference is never used again.
   *
   * @throws {TssError} USER_NOT_FOUND when the project has no such user.
   * @throws {TssError} WRONG_STATE while a dWallet of the user is in the service.
   *
   * @example
   * await client.users.delete({ reference: "user-42" });
   */
  delete(args: UserArgs, options?: RequestOptions): Promise<void>;
}

/** Names a user. */
export interface UserArgs {
  readonly reference: string;
}

/** Arguments of `users.list`. */
export interface ListUsersArgs extends ListArgs {
  readonly referencePrefix?: string | undefined;
  /** Only frozen users, or only those that are not. Default: both. */
  readonly frozen?: boolean | undefined;
}
