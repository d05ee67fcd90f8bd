module sui::object;

public struct ID has copy, drop, store { bytes: address }

public struct UID has store { id: ID }

public fun new(ctx: &mut TxContext): UID {
    let bytes = ctx.fresh_object_address();
    record_new_uid(bytes);
    UID { id: ID { bytes } }
}

public fun delete(id: UID) {
    let UID { id: ID { bytes } } = id;
    delete_impl(bytes)
}

public fun id<T: key>(obj: &T): ID {
    borrow_uid(obj).id
}

public fun to_inner(uid: &UID): ID {
    uid.id
}

public fun to_address(uid: &UID): address {
    uid.id.bytes
}

public fun id_from_address(bytes: address): ID {
    ID { bytes }
}

/// The id of a field, which the virtual machine derives.
public(package) fun new_uid_from_hash(bytes: address): UID {
    record_new_uid(bytes);
    UID { id: ID { bytes } }
}

native fun borrow_uid<T: key>(obj: &T): &UID;
native fun delete_impl(id: address);
native fun record_new_uid(id: address);
