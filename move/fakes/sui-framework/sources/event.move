module sui::event;

public native fun emit<T: copy + drop>(event: T);

/// The events of one type that the transaction has emitted so far.
#[test_only]
public native fun events_by_type<T: copy + drop>(): vector<T>;
