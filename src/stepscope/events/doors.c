/* The hot doors of the events room: `tell`, and the door of `Module._call_impl`, which `Module.__call__` calls.

   The door stands in the place of torch's own `_call_impl` and hands on to it: inside a model, and where nobody wants to
   hear of the model, that is all it does. It leaves no frame of its own. `modules.py` has the same in Python. Not at
   `__call__`: setting that makes Python renew a slot of every subclass, which costs more than recording a small step. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <stdbool.h>
#include <stddef.h>
#include <structmember.h>

#define VERSION 2

static PyObject *report; /* what Python does with a fault of a handler */

/* tell(listeners, *facts): each listener is (handler, thread or None, who, order) */
static PyObject *tell(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    if (count < 1 || !PyTuple_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "tell(listeners, *facts): the listeners are a tuple");
        return NULL;
    }
    PyObject *listeners = args[0];
    Py_INCREF(listeners);
    unsigned long here = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(listeners); i++) {
        PyObject *one = PyTuple_GET_ITEM(listeners, i);
        PyObject *handler = PyTuple_GET_ITEM(one, 0), *thread = PyTuple_GET_ITEM(one, 1);
        if (thread != Py_None) {
            if (!here) here = PyThread_get_thread_ident();
            if (PyLong_AsUnsignedLong(thread) != here) continue;
        }
        PyObject *answer = PyObject_Vectorcall(handler, args + 1, (size_t)(count - 1), NULL);
        if (answer == NULL) {
            if (!PyErr_ExceptionMatches(PyExc_Exception)) goto failed;
            PyObject *type, *fault, *trace;
            PyErr_Fetch(&type, &fault, &trace);
            PyErr_NormalizeException(&type, &fault, &trace);
            if (trace != NULL) PyException_SetTraceback(fault, trace);
            answer = PyObject_CallFunctionObjArgs(report, PyTuple_GET_ITEM(one, 2), fault, NULL);
            Py_XDECREF(type);
            Py_XDECREF(fault);
            Py_XDECREF(trace);
            if (answer == NULL) goto failed;
        }
        Py_DECREF(answer);
    }
    Py_DECREF(listeners);
    Py_RETURN_NONE;
failed:
    Py_DECREF(listeners);
    return NULL;
}

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *original;  /* torch's function */
    PyObject *caller;    /* the code of torch's function that calls it */
    PyObject *begin;     /* begin(module, args, kwargs, None, frame) -> call or None */
    PyObject *end;       /* end(call, result, error) */
    PyObject *is_grad;   /* torch.is_grad_enabled */
    PyObject *known;     /* a set of classes: with gradients nobody wants to hear of models of these; or NULL */
    PyObject *except;    /* a class: without gradients nobody wants to hear of others than these; or NULL */
    PyObject *dict;
    char wanted;         /* somebody listens */
    char inner;          /* also to the modules inside models */
} Door;

static _Thread_local Py_ssize_t depth; /* how many models run on this thread, one inside the other */

/* 1: nobody wants to hear of this model now; -1: a fault */
static int rests(Door *door, PyObject *module) {
    if (door->known == NULL && door->except == NULL) return 0;
    PyObject *answer = PyObject_CallNoArgs(door->is_grad);
    if (answer == NULL) return -1;
    bool grad = answer == Py_True;
    Py_DECREF(answer);
    if (grad) return door->known == NULL ? 0 : PySet_Contains(door->known, (PyObject *)Py_TYPE(module));
    return door->except != NULL && !PyType_IsSubtype(Py_TYPE(module), (PyTypeObject *)door->except);
}

static PyObject *keywords_of(PyObject *const *values, PyObject *names) {
    PyObject *kwargs = PyDict_New();
    for (Py_ssize_t i = 0; kwargs != NULL && names != NULL && i < PyTuple_GET_SIZE(names); i++)
        if (PyDict_SetItem(kwargs, PyTuple_GET_ITEM(names, i), values[i])) Py_CLEAR(kwargs);
    return kwargs;
}

/* The frame that called the module: torch's `__call__` is between it and the door. */
static PyObject *frame_of_caller(Door *door) {
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame == NULL) Py_RETURN_NONE;
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    PyFrameObject *back = code == door->caller ? PyFrame_GetBack(frame) : NULL;
    Py_DECREF(code);
    if (back != NULL) return (PyObject *)back;
    Py_INCREF(frame);
    return (PyObject *)frame;
}

/* What `begin` says: a call to end later, None, or NULL after a fault. */
static PyObject *begun(Door *door, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    PyObject *given = PyTuple_New(count - 1), *kwargs = keywords_of(args + count, names), *call = NULL;
    if (given != NULL && kwargs != NULL) {
        for (Py_ssize_t i = 1; i < count; i++) {
            Py_INCREF(args[i]);
            PyTuple_SET_ITEM(given, i - 1, args[i]);
        }
        PyObject *frame = frame_of_caller(door);
        PyObject *facts[] = {args[0], given, kwargs, Py_None, frame};
        call = PyObject_Vectorcall(door->begin, facts, 5, NULL);
        Py_DECREF(frame);
    }
    Py_XDECREF(given);
    Py_XDECREF(kwargs);
    return call;
}

/* Tells that the call is over, with its result or with the error that is set, which stays set. */
static int over(Door *door, PyObject *call, PyObject *result) {
    PyObject *type = NULL, *error = NULL, *trace = NULL;
    if (result == NULL) {
        PyErr_Fetch(&type, &error, &trace);
        PyErr_NormalizeException(&type, &error, &trace);
        if (trace != NULL) PyException_SetTraceback(error, trace);
    }
    PyObject *facts[] = {call, result == NULL ? Py_None : result, error == NULL ? Py_None : error};
    PyObject *answer = PyObject_Vectorcall(door->end, facts, 3, NULL);
    if (answer == NULL && result == NULL) { /* a fault beside the script's own error, which is the one to see */
        PyErr_Clear();
        PyErr_Restore(type, error, trace);
        return 0;
    }
    if (result == NULL) PyErr_Restore(type, error, trace);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

static PyObject *call_door(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
    Door *door = (Door *)self;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (count < 1 || !door->wanted || (depth > 0 && !door->inner))
        return PyObject_Vectorcall(door->original, args, flags, names);
    PyObject *call = NULL;
    int quiet = door->inner ? 0 : rests(door, args[0]);
    if (quiet == 0) call = begun(door, args, count, names);
    if (quiet < 0 || (quiet == 0 && call == NULL)) return NULL;
    if (call == Py_None) { /* nobody may look: the modules inside are asked about again */
        Py_DECREF(call);
        return PyObject_Vectorcall(door->original, args, flags, names);
    }
    depth++;
    PyObject *result = PyObject_Vectorcall(door->original, args, flags, names);
    depth--;
    if (call != NULL) {
        if (over(door, call, result) < 0) Py_CLEAR(result);
        Py_DECREF(call);
    }
    return result;
}

static PyObject *bind(PyObject *self, PyObject *owner, PyObject *type) {
    (void)type;
    if (owner == NULL || owner == Py_None) {
        Py_INCREF(self);
        return self;
    }
    return PyMethod_New(self, owner);
}

/* What it has not itself it has from torch's function: its code, which profilers look for, its name, its globals. */
static PyObject *attribute(PyObject *self, PyObject *name) {
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    PyErr_Clear();
    return PyObject_GetAttr(((Door *)self)->original, name);
}

static int go_through(PyObject *self, visitproc visit, void *arg) {
    Door *door = (Door *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(door->original);
    Py_VISIT(door->caller);
    Py_VISIT(door->begin);
    Py_VISIT(door->end);
    Py_VISIT(door->is_grad);
    Py_VISIT(door->known);
    Py_VISIT(door->except);
    Py_VISIT(door->dict);
    return 0;
}

static int clear(PyObject *self) {
    Door *door = (Door *)self;
    Py_CLEAR(door->begin);
    Py_CLEAR(door->end);
    Py_CLEAR(door->known);
    Py_CLEAR(door->except);
    Py_CLEAR(door->dict);
    return 0;
}

static void free_door(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    Py_CLEAR(((Door *)self)->original);
    Py_CLEAR(((Door *)self)->caller);
    Py_CLEAR(((Door *)self)->is_grad);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *new_door(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *original, *caller, *begin, *end, *is_grad;
    static char *names[] = {"original", "caller", "begin", "end", "is_grad", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOO", names, &original, &caller, &begin, &end, &is_grad))
        return NULL;
    Door *door = (Door *)type->tp_alloc(type, 0);
    if (door == NULL) return NULL;
    door->vectorcall = call_door;
    Py_INCREF(original), Py_INCREF(caller), Py_INCREF(begin), Py_INCREF(end), Py_INCREF(is_grad);
    door->original = original, door->caller = caller;
    door->begin = begin, door->end = end, door->is_grad = is_grad;
    return (PyObject *)door;
}

static int set_known(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (value != Py_None && (value == NULL || !PyAnySet_Check(value))) {
        PyErr_SetString(PyExc_TypeError, "known is a set of classes, or None");
        return -1;
    }
    Py_XINCREF(value);
    Py_XSETREF(((Door *)self)->known, value);
    if (value == Py_None) Py_CLEAR(((Door *)self)->known);
    return 0;
}

static int set_except(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (value != Py_None && (value == NULL || !PyType_Check(value))) {
        PyErr_SetString(PyExc_TypeError, "heard is a class, or None");
        return -1;
    }
    Py_XINCREF(value);
    Py_XSETREF(((Door *)self)->except, value);
    if (value == Py_None) Py_CLEAR(((Door *)self)->except);
    return 0;
}

static PyObject *get_of_original(PyObject *self, void *name) {
    return PyObject_GetAttrString(((Door *)self)->original, (const char *)name);
}

static PyObject *get_original(PyObject *self, void *closure) {
    (void)closure;
    Py_INCREF(((Door *)self)->original);
    return ((Door *)self)->original;
}

static PyObject *show(PyObject *self) { return PyObject_Repr(((Door *)self)->original); }

static PyMemberDef members[] = {
    {"wanted", T_BOOL, offsetof(Door, wanted), 0, "Somebody listens."},
    {"inner", T_BOOL, offsetof(Door, inner), 0, "Also to the modules inside models."},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Door, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Door, dict), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"known", NULL, set_known, "Classes whose models nobody wants to hear of while gradients are on.", NULL},
    {"heard", NULL, set_except, "The only class whose models are wanted while gradients are off.", NULL},
    {"__doc__", get_of_original, NULL, NULL, "__doc__"},
    {"__wrapped__", get_original, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, new_door},
    {Py_tp_dealloc, free_door},
    {Py_tp_traverse, go_through},
    {Py_tp_clear, clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_descr_get, bind},
    {Py_tp_getattro, attribute},
    {Py_tp_repr, show},
    {Py_tp_members, members},
    {Py_tp_getset, getset},
    {0, NULL},
};

static PyType_Spec door_type = {
    .name = "stepscope.events._doors.Door",
    .basicsize = sizeof(Door),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .slots = slots,
};

static PyObject *set_report(PyObject *module, PyObject *function) {
    (void)module;
    Py_INCREF(function);
    Py_XSETREF(report, function);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"tell", (PyCFunction)(void (*)(void))tell, METH_FASTCALL, "Let each listener hear it."},
    {"set_report", set_report, METH_O, "Have `report(who, fault)` called with the fault of a handler."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_doors", "The hot doors of the events room.", -1, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__doors(void) {
    PyObject *module = PyModule_Create(&definition);
    PyObject *type = module == NULL ? NULL : PyType_FromSpec(&door_type);
    if (type == NULL || PyModule_AddObject(module, "Door", type) < 0 ||
        PyModule_AddIntConstant(module, "VERSION", VERSION) < 0) {
        Py_XDECREF(type);
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
