module sui::transfer;

/// Names an object that was sent to another object.
#[allow(unused_field)]
public struct Receiving<phantom T: key> has drop { id: ID, version: u64 }

public fun public_transfer<T: key + store>(obj: T, recipient: address) {
    transfer_impl(obj, recipient)
}

public fun transfer<T: key>(obj: T, recipient: address) {
    transfer_impl(obj, recipient)
}

public fun share_object<T: key>(obj: T) {
    share_object_impl(obj)
}

public fun public_receive<T: key + store>(parent: &mut UID, to_receive: Receiving<T>): T {
    let Receiving { id, version } = to_receive;
    receive_impl(parent.to_address(), id, version)
}

native fun receive_impl<T: key>(parent: address, to_receive: ID, version: u64): T;
native fun transfer_impl<T: key>(obj: T, recipient: address);
native fun share_object_impl<T: key>(obj: T);
