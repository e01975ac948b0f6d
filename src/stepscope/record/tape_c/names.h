/* What the parts of the tape know of Python and torch, and helpers for references. */

#define VERSION 5
enum { BEGIN, END, FAIL, MODULE, LEAVE, ENGINE, ENGINE_END, NODE, NODE_END };
enum { MOST_SIMPLE = 16 };
#define LEAF_NUMBER (1ULL << 63) /* all leaves share one sequence number, the largest there is */

/* Of Python's and torch's, given by `configure`. */
static PyTypeObject *ghost_class, *tensor_type, *parameter_type;
static PyObject *users, *place_of, *read_only, *clock_ns, *is_packing, *is_custom, *kinds, *ghost_kind, *disabled;
static PyObject *strided, *dispatch_modes, *transform, *aminmax, *is_grad_enabled, *set_grad_enabled;
static PyTypeObject *simple[MOST_SIMPLE];
static Py_ssize_t simple_count;
static PyObject *small[16], *no_look;

static PyObject *s_version, *s_dtype, *s_device, *s_requires_grad, *s_storage, *s_cdata, *s_shape, *s_is_contiguous,
    *s_stride, *s_describe, *s_nbytes, *s_is_parameter, *s_grad_fn, *s_output_nr, *s_begin_any, *s_end_any,
    *s_look_again, *s_sequence, *s_next, *s_variable, *s_kept_by, *s_grad, *s_enter, *s_exit, *s_lasti, *s_end, *s_off,
    *s_fault, *s_see, *s_see_sum, *s_is_float, *s_is_cpu, *s_layout, *s_item, *s_numel, *s_is_view;

static PyObject *new_ref(PyObject *value) {
    Py_INCREF(value);
    return value;
}

/* Whether a weak reference is to this object. */
static int is_of(PyObject *ref, PyObject *object) {
    if (ref == NULL || !PyWeakref_Check(ref)) return 0;
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *found = NULL;
    if (PyWeakref_GetRef(ref, &found) < 0) PyErr_Clear();
    int same = found == object;
    Py_XDECREF(found);
    return same;
#else
    return PyWeakref_GetObject(ref) == object;
#endif
}

static int is_alive(PyObject *ref) {
#if PY_VERSION_HEX >= 0x030d0000
    PyObject *found = NULL;
    int alive = PyWeakref_GetRef(ref, &found);
    Py_XDECREF(found);
    return alive;
#else
    return PyWeakref_GetObject(ref) != Py_None;
#endif
}
