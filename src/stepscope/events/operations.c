/* The common case of `_Mode.__torch_function__` (operations.py): one follower, plain tensors, no reason to step aside.
 *
 * Everything else is handed to `_anyhow`, in Python, which does the same for every case. A fault of a follower is
 * reported and never reaches the script; the only errors that leave are those of the operation itself, and what is
 * meant for the script (KeyboardInterrupt). There is no frame of ours while the operation runs. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <structmember.h>

#define VERSION 2
#define PASS 0

static PyObject *plans, *patched, *away;        /* operations._plans, operations._patched, aside.AWAY */
static PyObject *handover;                      /* the code of torch.overrides.handle_torch_function */
static PyObject *tracing, *other_modes, *dispatch_modes; /* functions of torch */
static PyObject *tensor_type, *parameter_type;
static PyObject *report;                        /* operations._report(follower, fault) */
static PyObject *fx_names;                      /* of torch.fx._symbolic_trace, once it is imported */
static PyObject *s_anyhow, *s_begin, *s_end, *s_paused, *s_under_modes, *s_failed, *s_end_shielded, *s_fx_module,
    *s_fx_ask, *s_fx_flag;

typedef struct {
    PyObject_HEAD
    PyObject *followers;
    char is_on;
} Mode;

static int mode_traverse(Mode *self, visitproc visit, void *arg) {
    Py_VISIT(self->followers);
    return 0;
}

static int mode_clear(Mode *self) {
    Py_CLEAR(self->followers);
    return 0;
}

static void mode_dealloc(Mode *self) {
    PyObject_GC_UnTrack(self);
    mode_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* 1 where a fx tracer follows the code, 0 where none does, -1 for an error. */
static int is_fx_tracing(void) {
    if (fx_names == NULL) {
        PyObject *module = PyDict_GetItemWithError(PyImport_GetModuleDict(), s_fx_module);
        if (module == NULL) return PyErr_Occurred() ? -1 : 0;
        if (!PyModule_Check(module)) return -1;
        fx_names = PyModule_GetDict(module);
        Py_INCREF(fx_names);
    }
    PyObject *ask = PyDict_GetItemWithError(fx_names, s_fx_ask);
    if (ask == NULL) {
        PyObject *flag = PyErr_Occurred() ? NULL : PyDict_GetItemWithError(fx_names, s_fx_flag);
        return flag == NULL ? (PyErr_Occurred() ? -1 : 0) : PyObject_IsTrue(flag);
    }
    PyObject *answer = PyObject_CallNoArgs(ask);
    int yes = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return yes;
}

/* Whether the frame that hands over is the function's own body, so that no wrapper of the script's is in between. */
static int is_own_body(PyFrameObject *frame, PyObject *function) {
    if (!PyFunction_Check(function)) return 0;
    PyFrameObject *body = PyFrame_GetBack(frame);
    if (body == NULL) return 0;
    PyCodeObject *code = PyFrame_GetCode(body);
    int same = (PyObject *)code == PyFunction_GET_CODE(function);
    Py_DECREF(code);
    Py_DECREF(body);
    return same;
}

/* The plan of a function, borrowed; NULL where Python has to find out. No error is left. */
static PyObject *plan_of(PyFrameObject *frame, PyObject *function) {
    PyCodeObject *code = PyFrame_GetCode(frame);
    int hands_over = (PyObject *)code == handover;
    Py_DECREF(code);
    if (hands_over ? !is_own_body(frame, function) : PyDict_GET_SIZE(patched) != 0) return NULL;
    PyObject *plan = PyDict_GetItemWithError(plans, function);
    if (plan == NULL) PyErr_Clear();
    return plan != NULL && PyTuple_CheckExact(plan) && PyTuple_GET_SIZE(plan) == 2 ? plan : NULL;
}

static int is_nothing(PyObject *function) {  /* whether it gives None */
    PyObject *answer = PyObject_CallNoArgs(function);
    int nothing = answer == Py_None;
    Py_XDECREF(answer);
    return answer == NULL ? -1 : nothing;
}

static int is_zero(PyObject *function) {
    PyObject *answer = PyObject_CallNoArgs(function);
    if (answer == NULL) return -1;
    int truth = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return truth < 0 ? -1 : !truth;
}

static int truth_of(PyObject *object, PyObject *name) {
    PyObject *value = PyObject_GetAttr(object, name);
    int truth = value == NULL ? -1 : PyObject_IsTrue(value);
    Py_XDECREF(value);
    return truth;
}

/* Whether plain tensors are all there is; no class of somebody's that would see what is asked of them. */
static int are_plain(PyObject *types) {
    if (!PyTuple_CheckExact(types)) return 0;
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(types); place++) {
        PyObject *kind = PyTuple_GET_ITEM(types, place);
        if (kind != tensor_type && kind != parameter_type) return 0;
    }
    return 1;
}

/* Whether nothing stands against following it here; -1 for an error that must reach the script. */
static int is_common(PyObject *follower, PyObject *types) {
    if (PyList_GET_SIZE(away) != 0 || !are_plain(types)) goto no;
    if (truth_of(follower, s_paused) != 0) goto no;
    int under_modes = truth_of(follower, s_under_modes);
    if (under_modes < 0 || (!under_modes && is_zero(dispatch_modes) != 1)) goto no;
    if ( is_zero(other_modes) != 1 || is_nothing(tracing) != 1 || is_fx_tracing() != 0) goto no;
    return 1;
no:
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return -1;
    PyErr_Clear();
    return 0;
}

/* After a fault of a follower: 0 when it was reported, -1 when it is one that must reach the script. */
static int reported(PyObject *follower) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return -1;
    PyObject *kind, *fault, *trace;
    PyErr_Fetch(&kind, &fault, &trace);
    PyErr_NormalizeException(&kind, &fault, &trace);
    if (trace != NULL && fault != NULL) PyException_SetTraceback(fault, trace);
    PyObject *answer = PyObject_CallFunctionObjArgs(report, follower, fault, NULL);
    Py_XDECREF(kind);
    Py_XDECREF(fault);
    Py_XDECREF(trace);
    if (answer == NULL && !PyErr_ExceptionMatches(PyExc_Exception)) return -1;
    if (answer == NULL) PyErr_Clear();
    Py_XDECREF(answer);
    return 0;
}

/* The operation has raised: say so to the follower, and leave the error as it is. */
static void tell_failed(PyObject *self, PyObject *follower, PyObject *begun) {
    PyObject *kind, *error, *trace;
    PyErr_Fetch(&kind, &error, &trace);
    PyErr_NormalizeException(&kind, &error, &trace);
    if (trace != NULL && error != NULL) PyException_SetTraceback(error, trace);
    PyObject *answer = PyObject_CallMethodObjArgs(self, s_failed, follower, begun, error, NULL);
    if (answer == NULL) PyErr_Clear();
    Py_XDECREF(answer);
    PyErr_Restore(kind, error, trace);
}

static int is_plain(PyObject *value) {
    PyObject *kind = (PyObject *)Py_TYPE(value);
    return kind == tensor_type || kind == parameter_type || value == Py_None || PyFloat_CheckExact(value) ||
           PyLong_CheckExact(value) || PyBool_Check(value);
}

/* Values that ask nothing of a torch function when they are looked at. */
static int is_plain_result(PyObject *result) {
    if (is_plain(result)) return 1;
    if (!PyTuple_CheckExact(result) && !PyList_CheckExact(result)) return 0;
    for (Py_ssize_t place = 0; place < PySequence_Fast_GET_SIZE(result); place++)
        if (!is_plain(PySequence_Fast_GET_ITEM(result, place))) return 0;
    return 1;
}

static PyObject *around(PyObject *self, PyObject *follower, PyObject *const *call) {
    PyObject *function = call[0], *args = call[1], *kwargs = call[2];
    PyObject *told[6] = {follower, call[3], function, args, kwargs == NULL ? Py_None : kwargs, call[4]};
    PyObject *begun = PyObject_VectorcallMethod(s_begin, told, 6, NULL);
    if (begun == NULL && reported(follower) < 0) return NULL;
    PyObject *result = PyObject_Call(function, args, kwargs);
    if (begun == NULL || begun == Py_None) {
        Py_XDECREF(begun);
        return result;
    }
    if (result == NULL) {
        tell_failed(self, follower, begun);
        Py_DECREF(begun);
        return NULL;
    }
    PyObject *ended;
    if (is_plain_result(result)) {
        PyObject *given[3] = {follower, begun, result};
        ended = PyObject_VectorcallMethod(s_end, given, 3, NULL);
    } else {
        ended = PyObject_CallMethodObjArgs(self, s_end_shielded, follower, begun, result, NULL);
    }
    Py_DECREF(begun);
    if (ended == NULL && reported(follower) < 0) Py_CLEAR(result);
    Py_XDECREF(ended);
    return result;
}

static PyObject *mode_torch_function(Mode *self, PyObject *const *given, Py_ssize_t count) {
    if (count < 2 || count > 4) {
        PyErr_Format(PyExc_TypeError, "__torch_function__ takes 2 to 4 arguments, not %zd", count);
        return NULL;
    }
    PyObject *function = given[0], *types = given[1], *none = NULL, *result;
    PyObject *args = count > 2 ? given[2] : (none = PyTuple_New(0));
    PyObject *kwargs = count > 3 && given[3] != Py_None ? given[3] : NULL;
    if (args == NULL) return NULL;
    if (kwargs != NULL && PyDict_CheckExact(kwargs) && PyDict_GET_SIZE(kwargs) == 0) kwargs = NULL;
    int simple = PyTuple_CheckExact(args) && (kwargs == NULL || PyDict_CheckExact(kwargs));
    if (simple && !self->is_on) {
        result = PyObject_Call(function, args, kwargs);
        Py_XDECREF(none);
        return result;
    }
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    PyObject *plan = simple && frame != NULL ? plan_of(frame, function) : NULL;
    PyObject *followers = self->followers;
    int one = plan != NULL && followers != NULL && PyTuple_CheckExact(followers) && PyTuple_GET_SIZE(followers) == 1;
    int is_pass = plan != NULL && PyLong_AsLong(PyTuple_GET_ITEM(plan, 0)) == PASS;
    int common = one && !is_pass ? is_common(PyTuple_GET_ITEM(followers, 0), types) : 0;
    if (is_pass) {
        result = PyObject_Call(function, args, kwargs);
    } else if (common < 0) {
        result = NULL;
    } else if (common && self->followers == followers) {
        PyObject *follower = PyTuple_GET_ITEM(followers, 0);
        PyObject *call[5] = {function, args, kwargs, plan, (PyObject *)frame};
        Py_INCREF(follower);
        Py_INCREF(plan);
        result = around((PyObject *)self, follower, call);
        Py_DECREF(plan);
        Py_DECREF(follower);
    } else {
        result = PyObject_CallMethodObjArgs((PyObject *)self, s_anyhow, function, types, args,
                                            kwargs == NULL ? Py_None : kwargs,
                                            frame == NULL ? Py_None : (PyObject *)frame, NULL);
    }
    Py_XDECREF(frame);
    Py_XDECREF(none);
    return result;
}

static PyMethodDef mode_methods[] = {
    {"__torch_function__", (PyCFunction)(void (*)(void))mode_torch_function, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef mode_members[] = {
    {"followers", T_OBJECT, offsetof(Mode, followers), 0, NULL},
    {"is_on", T_BOOL, offsetof(Mode, is_on), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyTypeObject mode_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "stepscope.events._operations.Mode",
    .tp_basicsize = sizeof(Mode),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = PyType_GenericNew,
    .tp_dealloc = (destructor)mode_dealloc,
    .tp_traverse = (traverseproc)mode_traverse,
    .tp_clear = (inquiry)mode_clear,
    .tp_methods = mode_methods,
    .tp_members = mode_members,
};

static PyObject *configure(PyObject *module, PyObject *args) {
    (void)module;
    PyObject **kept[] = {&plans, &patched, &away, &handover, &tracing, &other_modes, &dispatch_modes, &tensor_type,
                         &parameter_type, &report};
    PyObject *new[10];
    if (!PyArg_ParseTuple(args, "O!O!O!OOOOOOO", &PyDict_Type, &new[0], &PyDict_Type, &new[1], &PyList_Type, &new[2],
                          &new[3], &new[4], &new[5], &new[6], &new[7], &new[8], &new[9]))
        return NULL;
    for (int place = 0; place < 10; place++) {
        Py_INCREF(new[place]);
        Py_XSETREF(*kept[place], new[place]);
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"configure", configure, METH_VARARGS, "Take what `operations.py` and torch have that is looked at here."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_operations", "The common case of following an operation.", -1, functions,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__operations(void) {
    struct { PyObject **name; const char *text; } names[] = {
        {&s_anyhow, "_anyhow"}, {&s_begin, "begin"}, {&s_end, "end"}, {&s_paused, "paused"},
        {&s_under_modes, "under_modes"}, {&s_failed, "_failed"},
        {&s_end_shielded, "_end_shielded"}, {&s_fx_module, "torch.fx._symbolic_trace"},
        {&s_fx_ask, "_get_is_fx_tracing"}, {&s_fx_flag, "_is_fx_tracing_flag"},
    };
    for (size_t place = 0; place < sizeof names / sizeof *names; place++)
        if ((*names[place].name = PyUnicode_InternFromString(names[place].text)) == NULL) return NULL;
    if (PyType_Ready(&mode_type) < 0) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    Py_INCREF(&mode_type);
    if (PyModule_AddIntConstant(module, "VERSION", VERSION) < 0 ||
        PyModule_AddObject(module, "Mode", (PyObject *)&mode_type) < 0)
        Py_CLEAR(module);
    return module;
}
