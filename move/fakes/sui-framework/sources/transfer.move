module sui::transfer;

public fun public_transfer<T: key + store>(obj: T, recipient: address) {
    transfer_impl(obj, recipient)
}

public fun transfer<T: key>(obj: T, recipient: address) {
    transfer_impl(obj, recipient)
}

public fun share_object<T: key>(obj: T) {
    share_object_impl(obj)
}

native fun transfer_impl<T: key>(obj: T, recipient: address);
native fun share_object_impl<T: key>(obj: T);
