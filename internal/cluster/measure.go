package cluster

// Count is how many objects have a record.
func (o *Objects) Count() int {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return len(o.records)
}

// Answers reports whether the cluster answered every watch of objects when it was asked last.
func (o *Objects) Answers() bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, w := range o.watches {
		if w.silent() {
			return false
		}
	}
	return true
}

// silent reports whether the watch goes on and got no answer.
func (w *watch) silent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost && !w.denied && w.ctx.Err() == nil
}
