import type { JSX } from "preact";
import type { User } from "../../../../gen/client/tss/v1/users_pb.ts";
import { useSession } from "../../api/session.ts";
import { ActionDialog } from "../../design/form/dialog.tsx";

/** Asks for confirmation before everything of a user stops, or continues. */
export function FreezeUserDialog({ user, onClose, onDone }: UserDialogProps): JSX.Element {
  const { users } = useSession();
  const { reference, freezeTime } = user;
  const isFrozen = freezeTime !== undefined;
  return (
    <ActionDialog
      title={isFrozen ? `Unfreeze the user “${reference}”?` : `Freeze the user “${reference}”?`}
      action={isFrozen ? "Unfreeze the user" : "Freeze the user"}
      isDangerous={!isFrozen}
      onClose={onClose}
      onAct={async () => {
        await (isFrozen ? users.unfreezeUser({ reference }) : users.freezeUser({ reference }));
        onDone();
      }}
    >
      {isFrozen ? (
        <p>The user continues. Reservations that have not expired can be submitted again.</p>
      ) : (
        <p>
          At once, the service makes no keys or dWallets for the user and signs nothing more with them.
          Requests that were submitted before complete. Reads and deposits go on, and the owner can still take
          a dWallet out of the service.
        </p>
      )}
    </ActionDialog>
  );
}

/** Asks for confirmation before a user is deleted, and says what is kept. */
export function DeleteUserDialog({ user, onClose, onDone }: UserDialogProps): JSX.Element {
  const { users } = useSession();
  const { reference } = user;
  return (
    <ActionDialog
      title={`Delete the user “${reference}”?`}
      action="Delete the user"
      isDangerous
      confirmedBy={{ name: reference, what: "user’s reference" }}
      onClose={onClose}
      onAct={async () => {
        await users.deleteUser({ reference });
        onDone();
      }}
    >
      <p>
        This cannot be undone: the reference is never used again. The user’s sessions end, and the service
        forgets which encryption keys were registered for the user.
      </p>
      <p>
        The service keeps payments, the ledger, the audit trail and the rows of dWallets. A deposit address of
        the reference continues to credit the project. While the user has a dWallet in the service, the
        service refuses the deletion.
      </p>
    </ActionDialog>
  );
}

interface UserDialogProps {
  readonly user: User;
  onClose(): void;
  /** Called when the service has made the change. */
  onDone(): void;
}
